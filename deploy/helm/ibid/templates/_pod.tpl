{{/* The secrets of a component, by option: a map of { secretName, key } (list $ "web"). */}}
{{- define "ibid.secretsOf" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $database := $root.Values.database -}}
{{- $all := deepCopy $root.Values.secrets -}}
{{- $_ := set $all "DATABASE_URL" $database.owner -}}
{{- $_ := set $all "SERVICE_DATABASE_URL" $database.service -}}
{{- if $database.replicas.secretName }}{{ $_ := set $all "DATABASE_REPLICA_URLS" $database.replicas }}{{ end -}}
{{- $wanted := dict
  "web" (list "SERVICE_DATABASE_URL" "DATABASE_REPLICA_URLS" "STORAGE_URL" "SMTP_URL" "OIDC_CLIENT_SECRET" "STRIPE_SECRET_KEY" "STRIPE_WEBHOOK_SECRETS")
  "worker" (list "SERVICE_DATABASE_URL" "STORAGE_URL" "SMTP_URL" "STRIPE_SECRET_KEY" "STRIPE_WEBHOOK_SECRETS")
  "migrate" (list "DATABASE_URL")
  "backup" (list "DATABASE_URL" "STORAGE_URL" "BACKUP_URL" "BACKUP_KEY_FILE") -}}
{{- $names := index $wanted $component -}}
{{- if and (eq $component "web") $database.ownerInWeb }}{{ $names = append $names "DATABASE_URL" }}{{ end -}}
{{- $mine := dict -}}
{{- range $names }}{{ if hasKey $all . }}{{ $_ := set $mine . (index $all .) }}{{ end }}{{ end -}}
{{- toYaml $mine -}}
{{- end }}

{{/* Pod fields that all components share, without the containers: (list $ "web"). */}}
{{- define "ibid.podSpec" -}}
{{- $root := index . 0 -}}
serviceAccountName: {{ include "ibid.fullname" $root }}-{{ index . 1 }}
automountServiceAccountToken: false
# Variables for the Services of the namespace could be mistaken for options.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  {{- with $root.Values.uid }}
  runAsUser: {{ . }}
  runAsGroup: {{ . }}
  fsGroup: {{ . }}
  fsGroupChangePolicy: OnRootMismatch
  {{- end }}
  seccompProfile: { type: RuntimeDefault }
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Container fields that all components share: (list $ "web"). */}}
{{- define "ibid.container" -}}
{{- $root := index . 0 -}}
image: {{ include "ibid.image" $root }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  - { name: secrets, mountPath: /run/ibid/secrets, readOnly: true }
  {{- if and (eq (index . 1) "backup") $root.Values.backup.existingClaim }}
  - { name: backups, mountPath: /backups }
  {{- end }}
  {{- if $root.Values.database.ca.secretName }}
  - { name: database-ca, mountPath: /run/ibid/database-ca, readOnly: true }
  {{- end }}
  {{- if $root.Values.plans }}
  - { name: plans, mountPath: /run/ibid/plans, readOnly: true }
  {{- end }}
{{- end }}

{{/* Environment variables that all containers share: (list $ "web"). */}}
{{- define "ibid.env" -}}
{{- $root := index . 0 -}}
- { name: DATA_DIR, value: /data }
# A user id chosen by the platform has no home directory, and the S3 client needs one.
- { name: HOME, value: /data }
{{- if $root.Values.plans }}
- { name: PLANS_FILE, value: /run/ibid/plans/plans.json }
{{- end }}
{{- range $option, $_ := include "ibid.secretsOf" . | fromYaml }}
- { name: {{ $option | trimSuffix "_FILE" }}_FILE, value: /run/ibid/secrets/{{ $option }} }
{{- end }}
{{- with $root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Volumes that all pods share: (list $ "web"). Hooks run first, so the migration has its own ConfigMap of plans. */}}
{{- define "ibid.volumes" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
- name: data
  {{- if and $root.Values.storage.existingClaim (ne $component "migrate") }}
  persistentVolumeClaim: { claimName: {{ $root.Values.storage.existingClaim }} }
  {{- else }}
  emptyDir: { sizeLimit: {{ $root.Values.storage.scratchSize }} }
  {{- end }}
- name: tmp
  emptyDir: { sizeLimit: {{ $root.Values.storage.tmpSize }} }
{{- if and (eq $component "backup") $root.Values.backup.existingClaim }}
- name: backups
  persistentVolumeClaim: { claimName: {{ $root.Values.backup.existingClaim }} }
{{- end }}
- name: secrets
  projected:
    # Octal 0440: readable by the group of the pod.
    defaultMode: 288
    sources:
      {{- range $option, $from := include "ibid.secretsOf" . | fromYaml }}
      - secret:
          name: {{ $from.secretName }}
          items: [{ key: {{ $from.key | quote }}, path: {{ $option }} }]
      {{- end }}
{{- with $root.Values.database.ca }}
{{- if .secretName }}
- name: database-ca
  secret:
    secretName: {{ .secretName }}
    items: [{ key: {{ .key | quote }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- if $root.Values.plans }}
- name: plans
  configMap: { name: {{ include "ibid.fullname" $root }}-plans{{ if eq $component "migrate" }}-migrate{{ end }} }
{{- end }}
{{- end }}
