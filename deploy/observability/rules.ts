import type { Alert } from './alerts/alert.ts';
import { PAYMENT_ALERTS } from './alerts/payment-alerts.ts';
import { PLATFORM_ALERTS } from './alerts/platform-alerts.ts';
import { BURN_RATES, type Slo, SLOS, WINDOWS } from './slos.ts';

export const ALERTS: readonly Alert[] = [...PAYMENT_ALERTS, ...PLATFORM_ALERTS];
export const RUNBOOKS_PAGE = 'docs/runbooks.md';

/** Of the samples in tests. */
const INTERVAL = '1m';

const annotationsOf = (alert: string, meaning: string): object => ({
  summary: meaning,
  runbook_url: `${RUNBOOKS_PAGE}#${alert.toLowerCase()}`,
});

const recordOf = ({ name }: Slo, window: string): string => `svc:${name}:error_ratio_${window}`;

/** The file of Prometheus with the objectives: the recorded shares of bad events, and the alerts. */
export function createSloRules(): object {
  const ratios = SLOS.flatMap((slo) =>
    WINDOWS.map((window) => ({ record: recordOf(slo, window), expr: slo.errorRatio(window) })),
  );
  return {
    groups: [
      // One group, because the rules of a group are evaluated in their order.
      { name: 'svc-slos', rules: [...ratios, ...SLOS.flatMap(createBurnAlerts)] },
    ],
  };
}

/** The file of Prometheus with the alarms. */
export function createAlarmRules(): object {
  return { groups: [{ name: 'svc-alarms', rules: ALERTS.map(createAlert) }] };
}

function createBurnAlerts(slo: Slo): object[] {
  return BURN_RATES.map(({ long, short, factor, severity }) => {
    const limit = Number((factor * (1 - slo.objective)).toFixed(6));
    return {
      alert: slo.alert,
      expr: `${recordOf(slo, long)} > ${limit} and ${recordOf(slo, short)} > ${limit}`,
      labels: { severity, window: long },
      annotations: annotationsOf(slo.alert, slo.runbook.meaning),
    };
  });
}

function createAlert({ name, expression, for: duration, severity, runbook }: Alert): object {
  return {
    alert: name,
    expr: expression,
    for: duration,
    labels: { severity },
    annotations: annotationsOf(name, runbook.meaning),
  };
}

/**
 * The files of `promtool test rules`: each alert fires with the series of its test, and does not with the others. The tests
 * of the objectives cover three days, so their rules are evaluated rarely.
 */
export function createSloTests(rulesFile: string): object {
  return { rule_files: [rulesFile], evaluation_interval: '30m', tests: SLOS.flatMap(testSlo) };
}

export function createAlarmTests(rulesFile: string): object {
  return { rule_files: [rulesFile], evaluation_interval: '5m', tests: ALERTS.flatMap(testAlert) };
}

function testAlert({ name, severity, runbook, test }: Alert): object[] {
  const fired = { exp_labels: { ...test.labels, severity }, exp_annotations: annotationsOf(name, runbook.meaning) };
  return [
    {
      interval: INTERVAL,
      input_series: test.firing,
      alert_rule_test: [{ eval_time: test.at, alertname: name, exp_alerts: [fired] }],
    },
    {
      interval: INTERVAL,
      input_series: test.silent,
      alert_rule_test: [{ eval_time: test.at, alertname: name, exp_alerts: [] }],
    },
  ];
}

/** A tenth of all events are bad for three days: the budget burns fast enough for each window. */
function testSlo({ alert, runbook, test }: Slo): object[] {
  const fired = BURN_RATES.map(({ severity, long }) => ({
    exp_labels: { ...test.labels, severity, window: long },
    exp_annotations: annotationsOf(alert, runbook.meaning),
  }));
  const at = '4350m';
  return [
    {
      interval: INTERVAL,
      input_series: test.firing,
      alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: fired }],
    },
    {
      interval: INTERVAL,
      input_series: test.silent,
      alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: [] }],
    },
  ];
}
