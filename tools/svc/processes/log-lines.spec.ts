import { formatLogLine, isLineOfService } from './log-lines.ts';

const createLine = (fields: object) =>
  JSON.stringify({ level: 30, time: 1_764_000_000_123, service: 'hosted-gateway', msg: 'session created', ...fields });

describe('formatLogLine', () => {
  it('prints time, level, service, message and the other fields', () => {
    expect(formatLogLine(createLine({ sessionId: 'abc', amountCents: 12_500 }))).toBe(
      '16:00:00.123 info  hosted-gateway     session created sessionId=abc amountCents=12500',
    );
  });

  it('accepts levels and times as strings', () => {
    expect(formatLogLine(createLine({ level: 'warn', time: '2025-11-24T16:00:00.123Z' }))).toMatch(
      /^16:00:00\.123 warn {2}hosted-gateway/,
    );
  });

  it('prints an error with its stack', () => {
    const err = {
      type: 'TypeError',
      message: 'amount is undefined',
      stack: 'TypeError: amount is undefined\n    at charge (charge.ts:3:1)',
    };
    expect(formatLogLine(createLine({ level: 50, err }))).toBe(
      '16:00:00.123 error hosted-gateway     session created TypeError: amount is undefined\n    at charge (charge.ts:3:1)',
    );
  });

  it.each(['(node:1) Warning: something', '{"half":', '[1]', ''])('does not change %j', (text) => {
    expect(formatLogLine(text)).toBe(text);
  });

  it('truncates long values', () => {
    expect(formatLogLine(createLine({ body: 'x'.repeat(5000) })).length).toBeLessThan(400);
  });
});

describe('isLineOfService', () => {
  it('accepts the lines of the service, and all lines that are not JSON', () => {
    expect(isLineOfService(createLine({}), 'hosted-gateway')).toBe(true);
    expect(isLineOfService(createLine({}), 'identity')).toBe(false);
    expect(isLineOfService('Segmentation fault', 'identity')).toBe(true);
  });

  it('accepts the lines of the supervisor about the service', () => {
    const line = createLine({ service: 'supervisor', name: undefined, app: 'identity' });
    expect(isLineOfService(line, 'identity')).toBe(true);
    expect(isLineOfService(line, 'hosted-gateway')).toBe(false);
    expect(isLineOfService(createLine({ app: 'identity' }), 'identity')).toBe(false);
  });
});
