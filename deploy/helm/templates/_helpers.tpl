{{- define "money.name" -}}
{{- printf "%s-%s" .Release.Name .part | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "money.labels" -}}
app.kubernetes.io/name: money-movement
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "money.image" -}}
{{ .Values.image.repository }}:{{ required "image.tag says which release this is" .Values.image.tag }}
{{- end -}}

{{/* No privileges: a process needs none to do its work. */}}
{{- define "money.container" -}}
image: {{ include "money.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{- define "money.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Variables as text: those of all programs, then the program's own, which take precedence. */}}
{{- define "money.environment" -}}
{{- range $name, $value := merge (dict) .own .Values.environment }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* What is read from secret files: the program's own, which take precedence, and those of all programs. */}}
{{- define "money.files" -}}
{{- merge (dict) (.settings.files | default dict) .Values.files | toYaml -}}
{{- end -}}

{{- define "money.fileVariables" -}}
{{- range $name, $from := include "money.files" . | fromYaml }}
- name: {{ $name }}_FILE
  value: /run/secrets/files/{{ $name }}
{{- end }}
{{- end -}}

{{- define "money.fileMounts" -}}
{{- if include "money.files" . | fromYaml }}
- { name: files, mountPath: /run/secrets/files, readOnly: true }
{{- end }}
{{- end -}}

{{/* A folder, so that renewed files appear on their own. */}}
{{- define "money.fileVolumes" -}}
{{- with include "money.files" . | fromYaml }}
- name: files
  projected:
    defaultMode: 0440
    sources:
    {{- range $name, $from := . }}
      - secret:
          name: {{ required (printf "files.%s names no secret" $name) $from.secret }}
          items: [{ key: {{ required (printf "files.%s names no key" $name) $from.key | quote }}, path: {{ $name }} }]
    {{- end }}
{{- end }}
{{- end -}}

{{- define "money.secretFiles" -}}
{{- range .keys }}
- name: {{ upper . }}_FILE
  value: /run/secrets/service/{{ . }}
{{- end }}
{{- include "money.fileVariables" . }}
{{- if .Values.secrets.rails }}
- name: PAYOUT_RAIL_KEYS_FILE
  value: /run/secrets/rails/payout_rail_keys
{{- end }}
{{- end -}}

{{- define "money.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: service, mountPath: /run/secrets/service, readOnly: true }
{{- include "money.fileMounts" . }}
{{- if .Values.secrets.rails }}
- { name: rails, mountPath: /run/secrets/rails, readOnly: true }
{{- end }}
{{- end -}}

{{- define "money.volumes" -}}
- name: tmp
  emptyDir: {}
- name: service
  secret:
    secretName: {{ .Values.secrets.service }}
    defaultMode: 0440
    items:
    {{- range .keys }}
      - { key: {{ . }}, path: {{ . }} }
    {{- end }}
{{- include "money.fileVolumes" . }}
{{- if .Values.secrets.rails }}
- name: rails
  secret:
    secretName: {{ .Values.secrets.rails }}
    defaultMode: 0440
{{- end }}
{{- end -}}

{{/* A process has three minutes to become ready; one that hangs is restarted; one that is not ready gets no requests. */}}
{{- define "money.probes" -}}
startupProbe:
  httpGet: { path: /livez, port: admin }
  periodSeconds: 2
  failureThreshold: 90
livenessProbe:
  httpGet: { path: /livez, port: admin }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: admin }
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 2
{{- end -}}

{{- define "money.scheduling" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "money.labels" . | nindent 8 }}
{{- with .settings.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "money.annotations" -}}
{{- if .Values.scrape }}
annotations:
  prometheus.io/scrape: 'true'
  prometheus.io/port: {{ .own.ADMIN_PORT | quote }}
  prometheus.io/path: /metrics
{{- end }}
{{- end -}}
