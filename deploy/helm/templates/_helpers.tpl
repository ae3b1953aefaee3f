{{- define "outrider.name" -}}
{{- printf "%s-%s" .root.Release.Name .service | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "outrider.labels" -}}
app.kubernetes.io/name: outrider
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end -}}

{{- define "outrider.metadata" -}}
name: {{ include "outrider.name" . }}
labels:
  {{- include "outrider.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "outrider.secret" -}}
{{- .Values.secrets.existing | default (printf "%s-secrets" .Release.Name) -}}
{{- end -}}

{{- define "outrider.claim" -}}
{{- .Values.keys.existingClaim | default (printf "%s-keys" .Release.Name) -}}
{{- end -}}
