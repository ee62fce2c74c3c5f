/**
 * Each alert fires because its real condition is caused, and its runbook ends it. The rules are those that are shipped,
 * with shorter windows (deploy/observability/quick-rules.ts).
 *
 * This drill takes about an hour, so `./svc test` does not run it: `./svc npm run drill -- alerts`, or
 * `./svc npm run drill -- alerts SvcRelayLate` for one alert.
 */
import { AlertDrill } from './alerts/alert-drill.js';
import { ALERT_CASES } from './alerts/cases.js';
import { ALERT_NAMES } from './alerts/runbook.js';

let drill: AlertDrill;
beforeAll(async () => {
  drill = await AlertDrill.start();
});
afterAll(async () => {
  await drill?.stop();
});
afterEach(() => drill?.undo());

it.each(ALERT_CASES.map((one) => [one.alert, one] as const))('%s', async (_, one) => {
  expect(await drill.run(one)).toMatchObject({ alert: one.alert });
});

it('each alert and each objective has one case', () => {
  expect(ALERT_CASES.map(({ alert }) => alert).toSorted()).toEqual(ALERT_NAMES.toSorted());
});
