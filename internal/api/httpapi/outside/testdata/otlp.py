"""A collector of OpenTelemetry, made of the protocol's own Python package. It writes its port, and then each span that it gets, as lines of JSON."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            service = {a.key: a.value.string_value for a in resource.resource.attributes}["service.name"]
            for scope in resource.scope_spans:
                for span in scope.spans:
                    write(name=span.name, trace=span.trace_id.hex(), id=span.span_id.hex(), parent=span.parent_span_id.hex(), service=service,
                          seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9)
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


def write(**line):
    print(json.dumps(line), flush=True)


server = HTTPServer(("127.0.0.1", 0), Collector)
write(port=server.server_port)
server.serve_forever()
