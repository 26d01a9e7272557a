import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { startTestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import {
  ALERTS,
  OBSERVABILITY,
  PrivatePrometheus,
  promtool,
  prometheusTools,
} from '../helpers/prometheus.js';
import { ROOT } from '../helpers/service-process.js';
import { temporalEnvironment, testTemporal } from '../helpers/temporal.js';
import { startTestWorker } from '../helpers/temporal-worker.js';

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.object({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});
const relabelSchema = z.object({
  scrape_configs: z.tuple([
    z.object({
      relabel_configs: z.array(
        z.object({
          source_labels: z.array(z.string()),
          target_label: z.string().optional(),
          replacement: z.string().optional(),
        }),
      ),
    }),
  ]),
});
const dashboardSchema = z.object({
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.object({ expr: z.string() })).optional(),
    }),
  ),
});

const { rules } = rulesSchema.parse(parse(readFileSync(ALERTS, 'utf8'))).groups[0]!;
const DASHBOARD = join(OBSERVABILITY, 'dashboard.json');
const { panels } = dashboardSchema.parse(JSON.parse(readFileSync(DASHBOARD, 'utf8')));
const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Prometheus' own, and what its language is made of. */
const NO_METRICS = new Set(
  `up absent and or unless on by without group_left sum max min abs clamp_min count rate increase topk histogram_quantile`.split(
    ' ',
  ),
);

/** The metrics that an expression names, by the names under which a process declares them. */
function metricsOf(expr: string): string[] {
  const bare = expr
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ')
    .replaceAll(/\b(by|on|without)\s*\([^)]*\)/g, ' ');
  const names = bare.match(/[a-z_][a-z0-9_]*/gi) ?? [];
  return names
    .filter((name) => !NO_METRICS.has(name))
    .map((name) => name.replace(/_(bucket|count|sum)$/, ''));
}

function declared(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!);
}

const tools = await prometheusTools();
const db = await testDatabase();
const temporal = await testTemporal();
// A Redis that is away: what is measured of it is measured all the same.
const api = await startTestApi(db, {
  ...temporalEnvironment(temporal),
  REDIS_URL: 'redis://127.0.0.1:1',
});
const worker = await startTestWorker(db, temporal, { sweeps: false });

describe('metrics, alerts and dashboards', () => {
  const scraped = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const known = async (): Promise<ReadonlySet<string>> =>
    new Set([
      ...declared(await scraped(api.adminUrl)),
      ...declared(await scraped(worker.adminUrl)),
    ]);

  it('every alert and every panel names metrics that processes have', async () => {
    const names = await known();
    const missing = [...rules.map(({ expr }) => expr), ...shown]
      .flatMap(metricsOf)
      .filter((name) => !names.has(name));
    assert.deepEqual([...new Set(missing)], []);
  });

  it('every metric of the service is on a panel or in an alert, and on the page for operators', async () => {
    const page = readFileSync(join(ROOT, 'docs/operations/monitoring.md'), 'utf8');
    const used = new Set([...rules.map(({ expr }) => expr), ...shown].flatMap(metricsOf));
    const ours = [...(await known())].filter((name) => !/^(process|nodejs)_/.test(name));
    assert.deepEqual(
      ours.filter((name) => !used.has(name)),
      [],
    );
    assert.deepEqual(
      ours.filter((name) => !page.includes(`\`${name}\``)),
      [],
    );
  });

  it('every alert links to its runbook', function () {
    // Those for operators' own incidents come with their list.
    if (!readdirSync(join(ROOT, 'docs/runbooks')).includes('README.md')) return this.skip();
    for (const { alert, annotations } of rules)
      assert.match(
        readFileSync(join(ROOT, annotations.runbook), 'utf8'),
        /^# /,
        `${alert}: ${annotations.runbook}`,
      );
  });

  it('the dashboard has panels that do not overlap, each with its own id', () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
    assert(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
  });

  it('promtool accepts the alerts, which fire only on their conditions', async function () {
    if (tools === undefined) return this.skip();
    await promtool(tools, 'check', 'rules', ALERTS);
    const tested = join(OBSERVABILITY, 'alerts.test.yml');
    await promtool(tools, 'test', 'rules', tested);
    const text = readFileSync(tested, 'utf8');
    for (const { alert } of rules)
      assert(text.includes(`- name: ${alert}\n`), `${alert} is not tested`);
  });

  it('the configuration of Prometheus can be read by promtool', async function () {
    if (tools === undefined) return this.skip();
    await promtool(tools, 'check', 'config', join(OBSERVABILITY, 'prometheus.yml'));
  });

  it('the configuration of Prometheus gives the pods of the chart the job names that the alerts use', () => {
    // Debian's promtool knows nothing of Kubernetes.
    const config = readFileSync(join(OBSERVABILITY, 'prometheus-kubernetes.yml'), 'utf8');
    const [{ relabel_configs: steps }] = relabelSchema.parse(parse(config)).scrape_configs;
    const labels = readFileSync(join(ROOT, 'deploy/helm/templates/_helpers.tpl'), 'utf8');
    const named = steps.find(({ target_label: target }) => target === 'job');
    const [component = ''] = named?.source_labels ?? [];
    assert.equal(named?.replacement, 'money-$1');
    assert.match(labels, /^app\.kubernetes\.io\/component: \{\{ \.part \}\}$/m);
    assert.equal(component, '__meta_kubernetes_pod_label_app_kubernetes_io_component');
  });

  it("every expression of the dashboard's panels can be parsed by promtool", async function () {
    if (tools === undefined) return this.skip();
    const folder = await mkdtemp(join(tmpdir(), 'money-panels-'));
    try {
      const file = join(folder, 'panels.yml');
      const asRules = shown.map((expr, at) => ({
        record: `panel:${at}`,
        expr: expr.replaceAll('$__rate_interval', '1m'),
      }));
      await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }));
      await promtool(tools, 'check', 'rules', file);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("the audit's alert fires in a real Prometheus that scrapes a real worker with a finding", async function () {
    if (tools === undefined) return this.skip();
    const port = new URL(worker.adminUrl).host;
    const prometheus = await PrivatePrometheus.start(tools, { 'money-worker': [port] }, 1);
    try {
      await db.change(
        `INSERT INTO audit_findings VALUES (REPEAT(X'01', 16), 'planted', 'nothing', 'by a test', NOW(3), NOW(3), NULL, NULL)`,
      );
      await prometheus.untilFiring('AuditFinding', 40_000);
    } finally {
      await db.change(`DELETE FROM audit_findings WHERE check_name='planted'`);
      await prometheus.remove();
    }
  });
});
