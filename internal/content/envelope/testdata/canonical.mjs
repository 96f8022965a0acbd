// A second implementation of RFC 8785 and of envelope digests, to hold the first against. It knows nothing of Go: it
// sorts keys as ECMAScript compares strings (by UTF-16 code units) and writes numbers and strings as ECMAScript does,
// which is how the RFC defines them.
//
// Reads one JSON string a line, each the text of a document in any spelling; writes a line of digest and canonical
// text, the latter as a JSON string, for each.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";

function canonical(value) {
  if (Array.isArray(value)) {
    return "[" + value.map(canonical).join(",") + "]";
  }
  if (value !== null && typeof value === "object") {
    const keys = Object.keys(value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return "{" + keys.map((k) => JSON.stringify(k) + ":" + canonical(value[k])).join(",") + "}";
  }
  return JSON.stringify(value);
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const text = canonical(JSON.parse(JSON.parse(line)));
  const digest = createHash("sha256").update(text, "utf8").digest("hex");
  process.stdout.write(`sha256:${digest} ${JSON.stringify(text)}\n`);
}
