import { createQuickRules, shortenExpression } from './quick-rules.ts';
import { ALERTS } from './rules.ts';

test('windows, offsets and waiting times are shorter, limits are not', () => {
  const expression = 'sum (increase(svc_mails_total[1h])) > 3600 or svc_mails_total offset 1h';
  expect(shortenExpression(expression, 120)).toBe(
    'sum (increase(svc_mails_total[30s])) > 3600 or svc_mails_total offset 30s',
  );
  expect(shortenExpression('rate(a[5m])', 120)).toBe('rate(a[20s])');
});

test('no alert is missing', () => {
  const { alarms } = createQuickRules(180) as { alarms: { groups: [{ rules: { alert: string; for: string }[] }] } };
  const [{ rules }] = alarms.groups;
  expect(rules.map(({ alert }) => alert)).toEqual(ALERTS.map(({ name }) => name));
  expect(rules.find(({ alert }) => alert === 'SvcPaymentsUnresolved')).toMatchObject({ for: '5s' });
});
