import { Clock } from './clock.js';
import { TtlCache } from './ttl-cache.js';

const clock = new (class extends Clock {
  private milliseconds = 1_767_225_600_000;

  override now(): Date {
    return new Date(this.milliseconds);
  }

  advance(milliseconds: number): void {
    this.milliseconds += milliseconds;
  }
})();
let asked: string[];
let kept: TtlCache<string>;
beforeEach(() => {
  asked = [];
  kept = new TtlCache(clock, 2);
});

function ask(name: string, lookUp: () => Promise<string | undefined> = () => Promise.resolve(name)) {
  return kept.find(name, () => {
    asked.push(name);
    return lookUp();
  });
}

const other = () => Promise.resolve('other');

it('loads a value once a second', async () => {
  expect([await ask('a'), await ask('a', other)]).toEqual(['a', 'a']);
  clock.advance(999);
  expect(await ask('a', other)).toBe('a');
  clock.advance(1);
  expect(await ask('a', other)).toBe('other');
  expect(asked).toEqual(['a', 'a']);
});

it('loads a value once for all concurrent callers', async () => {
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a', 'a', 'b']);
  expect(asked).toEqual(['a', 'b']);
});

it('caches neither an error nor a missing value', async () => {
  await expect(ask('a', () => Promise.reject(new Error('The database is away.')))).rejects.toThrow(
    'The database is away.',
  );
  expect(await ask('a', () => Promise.resolve(undefined))).toBeUndefined();
  expect(await ask('a')).toBe('a');
  expect(asked).toEqual(['a', 'a', 'a']);
});

it('has a maximum size', async () => {
  for (const name of ['a', 'b', 'c', 'c', 'b', 'a']) await ask(name);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});
