{{/* Checks that the schema of the values cannot express. Each message tells how to fix the values. */}}
{{- define "ibid.checks" -}}
{{- $v := .Values -}}
{{- if not (or $v.secrets.STORAGE_URL $v.storage.existingClaim) -}}
{{- fail "Files need a place that all pods share: set secrets.STORAGE_URL to a Secret with the address of a bucket, or storage.existingClaim to a claim with the access mode ReadWriteMany." -}}
{{- end -}}
{{- if and $v.secrets.STORAGE_URL $v.storage.existingClaim -}}
{{- fail "Both secrets.STORAGE_URL and storage.existingClaim are set, and files are kept in one place: unset one of them." -}}
{{- end -}}
{{- if and $v.config.OPERATORS (not $v.database.ownerInWeb) -}}
{{- fail "config.OPERATORS is set, and the operator's page works as the owner of the database: set database.ownerInWeb to true, which gives web pods that login, or unset config.OPERATORS." -}}
{{- end -}}
{{- if and $v.backup.schedule (not $v.secrets.BACKUP_URL) -}}
{{- fail "backup.schedule is set, so set secrets.BACKUP_URL to a Secret with the address of where backups are kept." -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) -}}
{{- fail "httpRoute.enabled is set, so name the Gateway in httpRoute.parentRefs." -}}
{{- end -}}
{{- range list "web" "worker" -}}
{{- $scaling := (index $v .).autoscaling -}}
{{- if gt ($scaling.minReplicas | int) ($scaling.maxReplicas | int) -}}
{{- fail (printf "%s.autoscaling.minReplicas is larger than maxReplicas." .) -}}
{{- end -}}
{{- end -}}
{{- with $v.worker.autoscaling -}}
{{- if and .enabled (eq .kind "keda") (not .prometheusUrl) -}}
{{- fail "worker.autoscaling.kind is keda, so set worker.autoscaling.prometheusUrl to the address of Prometheus." -}}
{{- end -}}
{{- end -}}
{{- end }}
