import { formatLogLine, isLineOfService } from './log-lines.ts';

const line = (entry: object) =>
  JSON.stringify({ level: 30, time: 1_764_000_000_123, service: 'hosted-gateway', msg: 'session created', ...entry });

describe('a readable log line', () => {
  it('has time, level, service, message and the other fields', () => {
    expect(formatLogLine(line({ sessionId: 'abc', amountCents: 12_500 }))).toBe(
      '16:00:00.123 info  hosted-gateway     session created sessionId=abc amountCents=12500',
    );
  });

  it('accepts levels and times as strings', () => {
    expect(formatLogLine(line({ level: 'warn', time: '2025-11-24T16:00:00.123Z' }))).toMatch(
      /^16:00:00\.123 warn {2}hosted-gateway/,
    );
  });

  it('shows an error with its stack', () => {
    const err = {
      type: 'TypeError',
      message: 'no such thing',
      stack: 'TypeError: no such thing\n    at charge (charge.ts:3:1)',
    };
    expect(formatLogLine(line({ level: 50, err }))).toBe(
      '16:00:00.123 error hosted-gateway     session created TypeError: no such thing\n    at charge (charge.ts:3:1)',
    );
  });

  it.each(['(node:1) Warning: something', '{"half":', '[1]', ''])('does not change %j', (text) => {
    expect(formatLogLine(text)).toBe(text);
  });

  it('truncates long values', () => {
    expect(formatLogLine(line({ body: 'x'.repeat(5000) })).length).toBeLessThan(400);
  });
});

describe('the lines of one service', () => {
  it('are its own and those that are not JSON', () => {
    expect(isLineOfService(line({}), 'hosted-gateway')).toBe(true);
    expect(isLineOfService(line({}), 'identity')).toBe(false);
    expect(isLineOfService('Segmentation fault', 'identity')).toBe(true);
  });
});
