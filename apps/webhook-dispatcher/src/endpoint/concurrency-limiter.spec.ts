import fc from 'fast-check';
import { ConcurrencyLimiter, type EndpointKey } from './concurrency-limiter.js';

const LIMITS = { total: 6, perMerchant: 4, perEndpoint: 2 };
const key = (merchantId: number, endpoint: string): EndpointKey => ({ merchantId, endpoint });
const ENDPOINT = key(1, 'a.example:443');

function tryAcquireAll(limiter: ConcurrencyLimiter, ...keys: EndpointKey[]): boolean[] {
  return keys.map((each) => limiter.tryAcquire(each));
}

// A permit allows one request in flight. If a notification gets no permit, its endpoint has a waiter until the next lease
// request.
describe('permits', () => {
  it('are limited for each endpoint of a merchant', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    expect(tryAcquireAll(limiter, ENDPOINT, ENDPOINT, ENDPOINT, key(1, 'b.example:443'))).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });

  it('are limited for all endpoints of a merchant together', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    const many = Array.from({ length: 6 }, (_, i) => key(1, `${i}.example:443`));
    expect(tryAcquireAll(limiter, ...many)).toEqual([true, true, true, true, false, false]);
    expect(limiter.tryAcquire(key(2, '0.example:443'))).toBe(true);
  });

  it('are counted separately for each merchant if several merchants use one host', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    expect(tryAcquireAll(limiter, ENDPOINT, ENDPOINT, ENDPOINT)).toEqual([true, true, false]);
    expect(limiter.tryAcquire(key(2, ENDPOINT.endpoint))).toBe(true);
  });

  it('are limited in total', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    const many = Array.from({ length: 7 }, (_, merchantId) => key(merchantId, 'a.example:443'));
    expect(tryAcquireAll(limiter, ...many)).toEqual([true, true, true, true, true, true, false]);
    expect(limiter.available).toBe(0);
  });

  it('are reserved for waiting notifications, from when they become free until the next lease request', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    tryAcquireAll(limiter, ENDPOINT, ENDPOINT, ENDPOINT);
    limiter.markRequestEnded(ENDPOINT);
    limiter.markRecorded();
    expect(limiter.hasWaiters(ENDPOINT)).toBe(true);
    expect(limiter.tryAcquire(ENDPOINT)).toBe(false);
    limiter.endLease(limiter.beginLease(), []);
    expect(limiter.hasWaiters(ENDPOINT)).toBe(false);
    expect(limiter.tryAcquire(ENDPOINT)).toBe(true);
  });

  it('have waiters at all endpoints of a merchant when the merchant has no free permit', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    const [a, b, c] = ['a', 'b', 'c'].map((host) => key(1, `${host}.example:443`));
    tryAcquireAll(limiter, a!, a!, b!, b!, c!);
    expect(limiter.hasWaiters(c!)).toBe(true);
    limiter.markRequestEnded(a!);
    expect(limiter.hasWaiters(a!)).toBe(true);
  });

  it('make another lease request necessary if they become free during a lease request', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    tryAcquireAll(limiter, ENDPOINT, ENDPOINT);
    const capacity = limiter.beginLease();
    limiter.markRequestEnded(ENDPOINT);
    limiter.markRecorded();
    // When the request began, the endpoint had no free permit, so only another request can lease its notifications.
    expect(limiter.endLease(capacity, [])).toBe(true);
    expect(limiter.hasWaiters(ENDPOINT)).toBe(true);
    expect(limiter.endLease(limiter.beginLease(), [])).toBe(false);
    expect(limiter.hasWaiters(ENDPOINT)).toBe(false);
  });

  it('cannot be acquired outside of a lease request while the lease request runs', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    const capacity = limiter.beginLease();
    expect(limiter.tryAcquire(ENDPOINT)).toBe(false);
    // The lease request may not have seen the notification that got no permit, so another request must lease it.
    expect(limiter.endLease(capacity, [])).toBe(true);
    limiter.endLease(limiter.beginLease(), []);
    expect(limiter.tryAcquire(ENDPOINT)).toBe(true);
  });

  it('are free when their requests have ended, unless too many results wait to be recorded', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    for (let i = 0; i < LIMITS.total; i++) {
      limiter.acquire(key(i, 'a.example:443'));
      limiter.markRequestEnded(key(i, 'a.example:443'));
    }
    expect(limiter.available).toBe(LIMITS.total);
    limiter.acquire(ENDPOINT);
    expect(limiter.available).toBe(LIMITS.total - 1);
    for (let i = 0; i < LIMITS.total; i++) limiter.markRecorded();
    expect(limiter.available).toBe(LIMITS.total - 1);
  });

  it('are used by waiting results above their limit, and become free when results are recorded', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    // The limit of waiting results is 6. Three more results wait, so they use three permits.
    for (let i = 0; i < LIMITS.total + 3; i++) {
      limiter.acquire(ENDPOINT);
      limiter.markRequestEnded(ENDPOINT);
    }
    expect(limiter.available).toBe(3);
    limiter.acquire(ENDPOINT);
    expect(limiter.available).toBe(2);
    limiter.markRecorded();
    expect(limiter.available).toBe(3);
  });

  it('do not count as used by an endpoint or a merchant after they became free', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    const [a, b, c] = ['a', 'b', 'c'].map((host) => key(1, `${host}.example:443`)) as [
      EndpointKey,
      EndpointKey,
      EndpointKey,
    ];
    limiter.tryAcquire(a);
    limiter.markRequestEnded(a);
    limiter.markRecorded();
    expect(limiter.usage).toEqual([]);
    expect(tryAcquireAll(limiter, a, a, b, b, c)).toEqual([true, true, true, true, false]);
    expect(limiter.usage).toEqual([
      { ...a, inFlight: 2 },
      { ...b, inFlight: 2 },
    ]);
  });

  it('are available to other endpoints of the merchant after the next lease request', () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    const [a, b, c] = ['a', 'b', 'c'].map((host) => key(1, `${host}.example:443`)) as [
      EndpointKey,
      EndpointKey,
      EndpointKey,
    ];
    tryAcquireAll(limiter, a, a, b, b, c);
    limiter.markRequestEnded(a);
    limiter.markRecorded();
    expect(limiter.tryAcquire(c)).toBe(false);
    limiter.endLease(limiter.beginLease(), []);
    expect(limiter.hasWaiters(c)).toBe(false);
    expect(tryAcquireAll(limiter, c, c)).toEqual([true, false]);
  });

  it('are available unless the endpoint, the merchant or the process has reached its limit', () => {
    const otherEndpoint = key(1, 'b.example:443');
    const limiterWith = (...keys: EndpointKey[]): ConcurrencyLimiter => {
      const limiter = new ConcurrencyLimiter(LIMITS);
      for (const endpointKey of keys) limiter.acquire(endpointKey);
      return limiter;
    };
    expect(limiterWith(ENDPOINT).hasCapacityFor(ENDPOINT)).toBe(true);
    expect(limiterWith(ENDPOINT, ENDPOINT).hasCapacityFor(ENDPOINT)).toBe(false);
    expect(limiterWith(ENDPOINT, ENDPOINT).hasCapacityFor(otherEndpoint)).toBe(true);
    expect(limiterWith(ENDPOINT, ENDPOINT, otherEndpoint, otherEndpoint).hasCapacityFor(key(1, 'c.example:443'))).toBe(
      false,
    );
    const six = [1, 2, 3, 4, 5, 6].map((merchantId) => key(merchantId, 'a.example:443'));
    expect(limiterWith(...six.slice(1)).hasCapacityFor(ENDPOINT)).toBe(true);
    expect(limiterWith(...six).hasCapacityFor(key(7, 'a.example:443'))).toBe(false);
  });

  describe('after a lease request', () => {
    const lease = (
      limiter: ConcurrencyLimiter,
      leased: readonly EndpointKey[],
      meanwhile: () => void = () => undefined,
    ): boolean => {
      const capacity = limiter.beginLease();
      for (const endpointKey of leased) limiter.acquire(endpointKey);
      meanwhile();
      return limiter.endLease(capacity, leased);
    };
    const [a, b, c] = ['a', 'b', 'c'].map((host) => key(1, `${host}.example:443`)) as [
      EndpointKey,
      EndpointKey,
      EndpointKey,
    ];
    const six = [1, 2, 3, 4, 5, 6].map((merchantId) => key(merchantId, 'a.example:443'));

    it('have waiters at an endpoint if the request leased the maximum of the endpoint', () => {
      const limiter = new ConcurrencyLimiter(LIMITS);
      expect(lease(limiter, [a, a])).toBe(false);
      expect([limiter.hasWaiters(a), limiter.hasWaiters(b)]).toEqual([true, false]);
    });

    it('have waiters at every endpoint of a merchant if the request leased the maximum of the merchant', () => {
      const limiter = new ConcurrencyLimiter(LIMITS);
      expect(lease(limiter, [a, a, b, b])).toBe(false);
      expect([limiter.hasWaiters(c), limiter.hasWaiters(key(2, 'a.example:443'))]).toEqual([true, false]);
    });

    it('have waiters at every endpoint if the request leased the maximum of the process', () => {
      const limiter = new ConcurrencyLimiter(LIMITS);
      expect(lease(limiter, six)).toBe(false);
      expect(limiter.hasWaiters(key(7, 'a.example:443'))).toBe(true);
    });

    it('have no waiters if the request leased less than the maximum of the process', () => {
      const limiter = new ConcurrencyLimiter(LIMITS);
      expect(lease(limiter, six.slice(1))).toBe(false);
      expect(limiter.hasWaiters(key(7, 'a.example:443'))).toBe(false);
    });

    it.each([
      ['endpoint', [a, a]],
      ['merchant', [a, a, b, b]],
      ['process', six],
    ])(
      'need another lease request if a permit became free and the request leased the maximum of the %s',
      (_, leased) => {
        const limiter = new ConcurrencyLimiter(LIMITS);
        const mustLeaseAgain = lease(limiter, leased, () => {
          limiter.markRequestEnded(a);
          limiter.markRecorded();
        });
        expect(mustLeaseAgain).toBe(true);
      },
    );
  });

  it('never exceed a limit, and are counted correctly, for any order of requests', () => {
    const keys = [1, 2, 3].flatMap((merchantId) => ['a', 'b', 'c'].map((host) => key(merchantId, host)));
    const generatedStep = fc.record({ keyIndex: fc.nat(8), action: fc.constantFrom('acquire', 'release', 'lease') });
    /**
     * Counts how often each limit was reached and how often a permit was released. The counts prove that the random steps
     * test the limits.
     */
    const reached = { total: 0, perMerchant: 0, perEndpoint: 0, released: 0 };
    fc.assert(
      fc.property(fc.array(generatedStep, { minLength: 50, maxLength: 100 }), (steps) => {
        const limiter = new ConcurrencyLimiter(LIMITS);
        const inFlightKeys: EndpointKey[] = [];
        for (const { keyIndex, action } of steps) {
          if (action === 'lease') limiter.endLease(limiter.beginLease(), []);
          if (action === 'acquire' && limiter.tryAcquire(keys[keyIndex]!)) inFlightKeys.push(keys[keyIndex]!);
          const released =
            action === 'release' ? inFlightKeys.splice(keyIndex % Math.max(inFlightKeys.length, 1), 1) : [];
          for (const endpointKey of released) {
            limiter.markRequestEnded(endpointKey);
            limiter.markRecorded();
            reached.released++;
          }
          expect(LIMITS.total - limiter.available).toBe(inFlightKeys.length);
          expect(limiter.usage.reduce((sum, { inFlight }) => sum + inFlight, 0)).toBe(inFlightKeys.length);
          const maxOfEndpoints = Math.max(0, ...limiter.usage.map(({ inFlight }) => inFlight));
          const maxOfMerchants = Math.max(
            ...[1, 2, 3].map((id) => inFlightKeys.filter(({ merchantId }) => merchantId === id).length),
          );
          expect(maxOfEndpoints).toBeLessThanOrEqual(LIMITS.perEndpoint);
          expect(maxOfMerchants).toBeLessThanOrEqual(LIMITS.perMerchant);
          if (limiter.available === 0) reached.total++;
          if (maxOfMerchants === LIMITS.perMerchant) reached.perMerchant++;
          if (maxOfEndpoints === LIMITS.perEndpoint) reached.perEndpoint++;
        }
      }),
    );
    for (const [name, times] of Object.entries(reached)) expect([name, times > 20]).toEqual([name, true]);
  });
});
