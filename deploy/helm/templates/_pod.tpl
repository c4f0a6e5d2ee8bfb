{{- define "cardlog.labels" -}}
app.kubernetes.io/name: cardlog
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/* What the pods of workers and services have in common. It takes .name and .root. */}}
{{- define "cardlog.pod" -}}
serviceAccountName: cardlog
automountServiceAccountToken: false
# Otherwise each Service adds variables named CARDLOG_… to every pod, among the settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
  {{- if and (eq .name "write") .root.Values.erasures.storage }}
  fsGroup: 10001
  {{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "cardlog.labels" . | nindent 8 }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "cardlog.labels" . | nindent 8 }}
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 256Mi
  # log.key and kek.key, where the Secret has them.
  - name: keys
    secret:
      secretName: {{ .root.Values.secret }}
      optional: true
      items:
        - {key: log.key, path: log.key}
        - {key: kek.key, path: kek.key}
  {{- if and (eq .name "write") .root.Values.erasures.storage }}
  - name: erasures
    persistentVolumeClaim:
      claimName: cardlog-erasures
  {{- end }}
{{- end }}

{{/* What their containers have in common. It takes .name, .process and .root. */}}
{{- define "cardlog.container" -}}
image: {{ printf "%s:%s" .root.Values.image.repository (.root.Values.image.tag | default .root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
envFrom:
  - configMapRef:
      name: cardlog-settings
  - secretRef:
      name: cardlog-settings
      optional: true
env:
  - name: CARDLOG_DATABASE_URL
    valueFrom:
      secretKeyRef:
        name: {{ .root.Values.secret }}
        key: database-url
  - name: CARDLOG_REDIS_URL
    valueFrom:
      secretKeyRef:
        name: {{ .root.Values.secret }}
        key: redis-url
  {{- if has .name (list "extractor" "curator") }}
  - name: ANTHROPIC_API_KEY
    valueFrom:
      secretKeyRef:
        name: {{ .root.Values.secret }}
        key: anthropic-api-key
        optional: true
  - name: CARDLOG_OPENAI_API_KEY
    valueFrom:
      secretKeyRef:
        name: {{ .root.Values.secret }}
        key: openai-api-key
        optional: true
  {{- end }}
  {{- if and (eq .name "write") .root.Values.erasures.storage }}
  - name: CARDLOG_TOMBSTONES_FILE
    value: /var/lib/cardlog/tombstones.jsonl
  {{- end }}
resources:
  requests:
    cpu: {{ .process.cpu | quote }}
    memory: {{ .process.memory }}
  limits:
    memory: {{ .process.memoryLimit }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: tmp
    mountPath: /tmp
  - name: keys
    mountPath: /etc/cardlog
    readOnly: true
  {{- if and (eq .name "write") .root.Values.erasures.storage }}
  - name: erasures
    mountPath: /var/lib/cardlog
  {{- end }}
{{- end }}
