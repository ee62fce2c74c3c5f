/**
 * `node deploy/observability/generate.ts` writes the rules and dashboards, docs/metrics.md and docs/runbooks.md from the list
 * of metrics and the alerts. The files are committed; `npm run check` fails if they are stale.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { toGrafana } from './dashboard.ts';
import { DASHBOARDS } from './dashboards.ts';
import { formatMetricsPage, formatRunbooksPage } from './pages.ts';
import { createAlarmRules, createAlarmTests, createSloRules, createSloTests, RUNBOOKS_PAGE } from './rules.ts';

const ROOT = join(import.meta.dirname, '../..');
const HEADER = '# Made by deploy/observability/generate.ts. Do not edit.\n';
export const PROMETHEUS_FOLDER = 'deploy/observability/prometheus';

/** The content of every file, by its path in the repository. */
export function generateObservability(): Map<string, string> {
  const toYaml = (content: object): string =>
    HEADER + stringify(content, { lineWidth: 0, aliasDuplicateObjects: false });
  const dashboards = Object.entries(DASHBOARDS).map(
    ([name, dashboard]) =>
      [`deploy/observability/grafana/${name}.json`, `${JSON.stringify(toGrafana(dashboard), null, 2)}\n`] as const,
  );
  return new Map([
    [`${PROMETHEUS_FOLDER}/alarms.rules.yaml`, toYaml(createAlarmRules())],
    [`${PROMETHEUS_FOLDER}/alarms.tests.yaml`, toYaml(createAlarmTests('alarms.rules.yaml'))],
    [`${PROMETHEUS_FOLDER}/slos.rules.yaml`, toYaml(createSloRules())],
    [`${PROMETHEUS_FOLDER}/slos.tests.yaml`, toYaml(createSloTests('slos.rules.yaml'))],
    ...dashboards,
    ['docs/metrics.md', formatMetricsPage()],
    [RUNBOOKS_PAGE, formatRunbooksPage()],
  ]);
}

/** The generated files that differ from the committed ones. */
export function findStaleObservability(): string[] {
  return [...generateObservability()]
    .filter(([file, content]) => !existsSync(join(ROOT, file)) || readFileSync(join(ROOT, file), 'utf8') !== content)
    .map(([file]) => `${file} is stale: run node deploy/observability/generate.ts`);
}

if (import.meta.main) {
  for (const [file, content] of generateObservability()) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), content);
  }
}
