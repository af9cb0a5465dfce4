{{/* One rule of egress: (dict "to" peers "ports" numbers "protocols" names). */}}
{{- define "ibid.egressRule" -}}
- ports:
    {{- range $port := .ports }}
    {{- range $.protocols | default (list "TCP") }}
    - { port: {{ $port }}, protocol: {{ . }} }
    {{- end }}
    {{- end }}
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Allowed destinations of the pods of a component: (list $ "web"). */}}
{{- define "ibid.egress" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $policy := $root.Values.networkPolicy -}}
{{- $secrets := include "ibid.secretsOf" . | fromYaml -}}
{{- $config := $root.Values.config -}}
{{- $serves := has $component (list "web" "worker") -}}
{{ include "ibid.egressRule" (dict "to" $policy.dns "ports" (list 53) "protocols" (list "UDP" "TCP")) }}
{{ include "ibid.egressRule" $policy.database }}
{{- if or $secrets.STORAGE_URL $secrets.BACKUP_URL $secrets.STRIPE_SECRET_KEY }}
{{ include "ibid.egressRule" $policy.https }}
{{- end }}
{{- if $secrets.SMTP_URL }}
{{ include "ibid.egressRule" $policy.mail }}
{{- end }}
{{- if and $serves $config.OIDC_ISSUER }}
{{ include "ibid.egressRule" (dict "to" $policy.https.to "ports" (list (include "ibid.portOf" (list $config.OIDC_ISSUER)))) }}
{{- end }}
{{- if and $serves $config.OTEL_EXPORTER_OTLP_ENDPOINT }}
{{ include "ibid.egressRule" (dict "ports" (list (include "ibid.portOf" (list $config.OTEL_EXPORTER_OTLP_ENDPOINT)))) }}
{{- end }}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end }}
