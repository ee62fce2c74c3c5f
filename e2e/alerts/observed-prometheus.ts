/** The Prometheus of a platform with `--observe`, with rules that fire within seconds. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import { createQuickRules } from '../../deploy/observability/quick-rules.ts';
import { createPrometheusConfig } from '../../tools/svc/platform/prometheus.ts';
import { readSettings } from '../../tools/svc/settings/settings.ts';
import { type Platform, ROOT } from '../platform/platform.js';

/** An hour becomes twenty seconds. */
export const FACTOR = 180;
const INTERVAL = '5s';
const OBSERVED_PORT = 31;

interface FiringAlert {
  readonly labels: Readonly<Record<string, string>> & { readonly alertname: string };
  readonly state: 'pending' | 'firing';
}

export class ObservedPrometheus {
  private readonly file: string;
  private readonly url: string;

  private constructor(
    private readonly platform: Platform,
    portBase: number,
  ) {
    this.file = join(platform.dataDir, 'prometheus', 'prometheus.json');
    this.url = `http://127.0.0.1:${portBase + OBSERVED_PORT}`;
  }

  /** Replaces the rules of the running Prometheus by the quick ones. */
  static async prepare(platform: Platform): Promise<ObservedPrometheus> {
    const observed = new ObservedPrometheus(platform, Number(new URL(platform.demo.apiUrl).port));
    await observed.load();
    return observed;
  }

  /** The alerts with this name that fire or are pending. */
  async alerts(name: string): Promise<readonly FiringAlert[]> {
    const { alerts } = await this.get<{ alerts: FiringAlert[] }>('/api/v1/alerts');
    return alerts.filter(({ labels }) => labels.alertname === name);
  }

  /** The values of the result, one for each series. */
  async query(expression: string): Promise<number[]> {
    const path = `/api/v1/query?query=${encodeURIComponent(expression)}`;
    const { result } = await this.get<{ result: { value: [number, string] }[] }>(path);
    return result.map(({ value: [, text] }) => Number(text));
  }

  private async load(): Promise<void> {
    const folder = join(this.platform.dataDir, 'prometheus');
    const files = Object.entries(createQuickRules(FACTOR)).map(([name, rules]) => {
      const file = join(folder, `${name}.quick.yaml`);
      writeFileSync(file, JSON.stringify(rules));
      return file;
    });
    const global = { scrape_interval: INTERVAL, evaluation_interval: INTERVAL };
    const config = {
      ...createPrometheusConfig(readSettings(ROOT, this.platform.env(), ROOT), 'distributed'),
      global,
      rule_files: files,
    };
    writeFileSync(this.file, JSON.stringify(config));
    process.kill(this.pid, 'SIGHUP');
    // Prometheus writes the configuration that it has accepted as YAML.
    await waitUntil('the configuration of Prometheus', 15_000, async () => {
      const { yaml } = await this.get<{ yaml: string }>('/api/v1/status/config');
      return yaml.includes('alarms.quick.yaml') && yaml.includes('job_name');
    });
  }

  private get pid(): number {
    const file = join(this.platform.dataDir, 'run', 'prometheus.json');
    if (!existsSync(file)) throw new Error('The platform runs without --observe.');
    return (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid;
  }

  private async get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.url}${path}`, { signal: AbortSignal.timeout(5_000) });
    const { data, error } = (await response.json()) as { data?: T; error?: string };
    if (data === undefined) throw new Error(`Prometheus answered ${response.status}: ${error}`);
    return data;
  }
}
