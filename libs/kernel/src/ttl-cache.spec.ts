import { Clock } from './clock.js';
import { TtlCache } from './ttl-cache.js';

const clock = new (class extends Clock {
  private milliseconds = 0;

  override now(): Date {
    throw new Error('The time of the computer may be set back, so the cache does not use it.');
  }

  override monotonicMs(): number {
    return this.milliseconds;
  }

  advance(milliseconds: number): void {
    this.milliseconds += milliseconds;
  }
})();
const MAX_VALUES = 2;
let loadedNames: string[];
let cache: TtlCache<string>;
beforeEach(() => {
  loadedNames = [];
  cache = new TtlCache(clock, MAX_VALUES);
});

function findInCache(name: string, load: () => Promise<string | undefined> = () => Promise.resolve(name)) {
  return cache.find(name, () => {
    loadedNames.push(name);
    return load();
  });
}

const loadOther = () => Promise.resolve('other');

it('the cache loads a value again when the value is one second old', async () => {
  expect([await findInCache('a'), await findInCache('a', loadOther)]).toEqual(['a', 'a']);
  clock.advance(999);
  expect(await findInCache('a', loadOther)).toBe('a');
  clock.advance(1);
  expect(await findInCache('a', loadOther)).toBe('other');
  expect(loadedNames).toEqual(['a', 'a']);
});

it('the cache loads a value once for all concurrent callers', async () => {
  expect(await Promise.all([findInCache('a'), findInCache('a'), findInCache('b')])).toEqual(['a', 'a', 'b']);
  expect(loadedNames).toEqual(['a', 'b']);
});

it('the cache does not store errors and missing values', async () => {
  await expect(findInCache('a', () => Promise.reject(new Error('The database is unavailable.')))).rejects.toThrow(
    'The database is unavailable.',
  );
  expect(await findInCache('a', () => Promise.resolve(undefined))).toBeUndefined();
  expect(await findInCache('a')).toBe('a');
  expect(loadedNames).toEqual(['a', 'a', 'a']);
});

it('the cache removes the least recently used value when it is full', async () => {
  for (const name of ['a', 'b', 'c', 'c', 'b', 'a']) await findInCache(name);
  expect(loadedNames).toEqual(['a', 'b', 'c', 'a']);
});
