{{- define "trapeze.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "trapeze.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "trapeze.labels" -}}
{{ include "trapeze.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "trapeze.check" -}}
{{- if and .Values.tls.enabled .Values.behindProxy }}{{ fail "either the server or a proxy does TLS: set tls.enabled to false with behindProxy" }}{{ end }}
{{- if not (or .Values.tls.enabled .Values.behindProxy) }}{{ fail "other pods reach the server, and tokens would be sent unencrypted: set tls.enabled, or behindProxy if a proxy does TLS" }}{{ end }}
{{- if and .Values.tls.enabled (not .Values.tls.secretName) }}{{ fail "tls.enabled needs tls.secretName" }}{{ end }}
{{- if and .Values.tls.clientCASecretName (not .Values.tls.enabled) }}{{ fail "client certificates need tls.enabled" }}{{ end }}
{{- end }}
