import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, ROOT } from './service-process.js';
import { until } from './temporal.js';
import { importScript } from './scripts.js';
import { FolderProgram } from './test-program.js';

export const OBSERVABILITY = join(ROOT, 'deploy/observability');
export const ALERTS = join(OBSERVABILITY, 'alerts.yml');

export interface PrometheusTools {
  readonly prometheus: string;
  readonly promtool: string;
}

let found: Promise<PrometheusTools | undefined> | undefined;

/** The tool that scripts/lib/prometheus.mjs finds or fetches; undefined with a message if it cannot be had. */
export function prometheusTools(): Promise<PrometheusTools | undefined> {
  type Finder = { findPrometheus(): Promise<PrometheusTools | undefined> };
  return (found ??= importScript<Finder>('prometheus.mjs').then(({ findPrometheus }) =>
    findPrometheus(),
  ));
}

/** Returns the output of promtool. Throws if it fails. */
export async function promtool(
  tools: PrometheusTools,
  ...args: readonly string[]
): Promise<string> {
  const { stdout } = await promisify(execFile)(tools.promtool, args).catch(
    (failure: { stdout: string; stderr: string }) => {
      throw new Error(`promtool ${args.join(' ')}:\n${failure.stdout}\n${failure.stderr}`);
    },
  );
  return stdout;
}

/** The targets to scrape: the host and port of an admin port, by the name of its job. */
type Targets = Readonly<Record<string, readonly string[]>>;

interface AlertsAnswer {
  readonly data: {
    readonly alerts: readonly {
      readonly labels: Readonly<Record<string, string>>;
      readonly state: string;
    }[];
  };
}

/** A real Prometheus with the service's own alerts, which scrapes real processes. */
export class PrivatePrometheus extends FolderProgram {
  private readonly url: string;

  private constructor(tools: PrometheusTools, folder: string, port: number) {
    super(folder);
    this.url = `http://127.0.0.1:${port}`;
    this.run(tools.prometheus, [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ]);
  }

  /** `everyS`: how often it scrapes and looks at the alerts, in seconds. */
  static async start(
    tools: PrometheusTools,
    targets: Targets,
    everyS: number,
  ): Promise<PrivatePrometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'money-prometheus-'));
    const every = `${everyS}s`;
    const config = {
      global: {
        scrape_interval: every,
        scrape_timeout: everyS < 10 ? every : '10s',
        evaluation_interval: every,
      },
      rule_files: [ALERTS],
      scrape_configs: Object.entries(targets).map(([name, own]) => ({
        job_name: name,
        static_configs: [{ targets: own }],
      })),
    };
    // JSON is YAML.
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const [port] = await freePorts(1);
    const prometheus = new PrivatePrometheus(tools, folder, port!);
    await until('Prometheus is ready', () => prometheus.isReady(), { limitMs: 60_000 });
    return prometheus;
  }

  private async isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/-/ready`)).ok;
    } catch {
      return false;
    }
  }

  /** The names of the alerts that fire now. */
  async firing(): Promise<ReadonlySet<string>> {
    const { data } = (await (await fetch(`${this.url}/api/v1/alerts`)).json()) as AlertsAnswer;
    return new Set(
      data.alerts.flatMap(({ labels, state }) =>
        state === 'firing' ? [labels.alertname ?? ''] : [],
      ),
    );
  }

  /** Resolves when the alert fires. Answers how long that took, in milliseconds. */
  async untilFiring(alert: string, limitMs: number): Promise<number> {
    const beganAt = performance.now();
    await until(`${alert} fires`, async () => (await this.firing()).has(alert), { limitMs });
    return performance.now() - beganAt;
  }
}
