{{/* Base name of the resources: the release, including "ibid". Names of CronJobs are limited to 52 characters, with "-backup". */}}
{{- define "ibid.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" -}}
{{- else if contains "ibid" .Release.Name -}}
{{- .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-ibid" .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* Selector labels of the pods of a component: (list $ "web"). */}}
{{- define "ibid.selector" -}}
app.kubernetes.io/name: ibid
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of a resource of a component: (list $ "web"). */}}
{{- define "ibid.labels" -}}
{{- $root := index . 0 -}}
{{ include "ibid.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{/* Annotations of hooks, which run before the other resources are created: the migration job and its dependencies. */}}
{{- define "ibid.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ index . 0 | quote }}
helm.sh/hook-delete-policy: {{ index . 1 }}
{{- end }}

{{- define "ibid.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end -}}
{{- end }}

{{/* The host of PUBLIC_URL, for routes. */}}
{{- define "ibid.host" -}}
{{- (urlParse .Values.config.PUBLIC_URL).hostname -}}
{{- end }}

{{/* Whether a secret option is set: (list $ "SMTP_URL"). */}}
{{- define "ibid.hasSecret" -}}
{{- if index (index . 0).Values.secrets (index . 1) }}yes{{ end -}}
{{- end }}

{{/* The port of an address: (list "http://otel:4318"). */}}
{{- define "ibid.portOf" -}}
{{- $url := urlParse (index . 0) -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $port | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end }}
