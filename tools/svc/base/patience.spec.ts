import { readPatience } from './patience.ts';

describe('readPatience', () => {
  it.each([
    [{}, 1],
    [{ CI: '1' }, 5],
    [{ CI: '1', SVC_PATIENCE: '2' }, 2],
    [{ SVC_PATIENCE: '' }, 1],
    [{ SVC_PATIENCE: '1.5' }, 1.5],
    [{ SVC_PATIENCE: '20' }, 20],
  ])('returns the factor of the environment %j: %d', (env, expected) => {
    expect(readPatience(env)).toBe(expected);
  });

  it.each([
    [{}, 5],
    [{ SVC_PATIENCE: '2' }, 2],
  ])('on a busy machine returns the factor of the environment %j: %d', (env, expected) => {
    expect(readPatience(env, true)).toBe(expected);
  });

  it.each(['0', '0.9', '20.1', '-1', 'long', 'NaN', 'Infinity'])('rejects SVC_PATIENCE=%s', (value) => {
    expect(() => readPatience({ SVC_PATIENCE: value })).toThrow(
      `SVC_PATIENCE must be a number from 1 to 20, not "${value}"`,
    );
  });
});
