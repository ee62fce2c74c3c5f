import fc from 'fast-check';
import { type Lane, Occupancy } from './occupancy.js';

const BOUNDS = { inAll: 6, perMerchant: 4, perEndpoint: 2 };
const lane = (merchantId: number, endpoint: string): Lane => ({ merchantId, endpoint });
const ONE = lane(1, 'a.example:443');

function taken(places: Occupancy, ...lanes: Lane[]): boolean[] {
  return lanes.map((one) => places.take(one));
}

describe('places', () => {
  it('of one endpoint are bounded; another endpoint of the merchant has its own', () => {
    const places = new Occupancy(BOUNDS);
    expect(taken(places, ONE, ONE, ONE, lane(1, 'b.example:443'))).toEqual([true, true, false, true]);
  });

  it('of one merchant are bounded, however many endpoints it has', () => {
    const places = new Occupancy(BOUNDS);
    const many = Array.from({ length: 6 }, (_, i) => lane(1, `${i}.example:443`));
    expect(taken(places, ...many)).toEqual([true, true, true, true, false, false]);
    expect(places.take(lane(2, '0.example:443'))).toBe(true);
  });

  it('at one host belong to each merchant that uses it', () => {
    const places = new Occupancy(BOUNDS);
    expect(taken(places, ONE, ONE, ONE)).toEqual([true, true, false]);
    expect(places.take(lane(2, ONE.endpoint))).toBe(true);
  });

  it('in all are bounded', () => {
    const places = new Occupancy(BOUNDS);
    const many = Array.from({ length: 7 }, (_, merchantId) => lane(merchantId, 'a.example:443'));
    expect(taken(places, ...many)).toEqual([true, true, true, true, true, true, false]);
    expect(places.room).toBe(0);
  });

  it('that became free are not taken by something new while something else waits for them', () => {
    const places = new Occupancy(BOUNDS);
    taken(places, ONE, ONE, ONE);
    places.leaveWire(ONE);
    places.leave();
    expect(places.isAwaited(ONE)).toBe(true);
    expect(places.take(ONE)).toBe(false);
    places.answered(places.ask(), []);
    expect(places.isAwaited(ONE)).toBe(false);
    expect(places.take(ONE)).toBe(true);
  });

  it('of a full merchant are waited for by all its endpoints', () => {
    const places = new Occupancy(BOUNDS);
    const [a, b, c] = ['a', 'b', 'c'].map((host) => lane(1, `${host}.example:443`));
    taken(places, a!, a!, b!, b!, c!);
    expect(places.isAwaited(c!)).toBe(true);
    places.leaveWire(a!);
    expect(places.isAwaited(a!)).toBe(true);
  });

  it('that became free while a claim was under way are told to whoever claims next', () => {
    const places = new Occupancy(BOUNDS);
    taken(places, ONE, ONE);
    const asked = places.ask();
    places.leaveWire(ONE);
    places.leave();
    // It was not allowed to claim for this endpoint, and nothing else will free a place there soon.
    expect(places.answered(asked, [])).toBe(true);
    expect(places.isAwaited(ONE)).toBe(true);
    expect(places.answered(places.ask(), [])).toBe(false);
    expect(places.isAwaited(ONE)).toBe(false);
  });

  it('belong to a claim while it is under way', () => {
    const places = new Occupancy(BOUNDS);
    const asked = places.ask();
    expect(places.take(ONE)).toBe(false);
    // What was refused is not in that claim's snapshot: somebody has to look again.
    expect(places.answered(asked, [])).toBe(true);
    places.answered(places.ask(), []);
    expect(places.take(ONE)).toBe(true);
  });

  it('are free when the answer is there, unless too many answers wait for being written', () => {
    const places = new Occupancy(BOUNDS);
    for (let i = 0; i < BOUNDS.inAll; i++) {
      places.occupy(lane(i, 'a.example:443'));
      places.leaveWire(lane(i, 'a.example:443'));
    }
    expect(places.room).toBe(BOUNDS.inAll);
    places.occupy(ONE);
    expect(places.room).toBe(BOUNDS.inAll - 1);
    for (let i = 0; i < BOUNDS.inAll; i++) places.leave();
    expect(places.room).toBe(BOUNDS.inAll - 1);
  });

  it('are as many as answers may wait for being written, each of which takes one until it is written', () => {
    const places = new Occupancy(BOUNDS);
    for (let i = 0; i < 9; i++) {
      places.occupy(ONE);
      places.leaveWire(ONE);
    }
    expect(places.room).toBe(3);
    places.occupy(ONE);
    expect(places.room).toBe(2);
    places.leave();
    expect(places.room).toBe(3);
  });

  it('that nobody has are in no list and in no sum', () => {
    const places = new Occupancy(BOUNDS);
    const [a, b, c] = ['a', 'b', 'c'].map((host) => lane(1, `${host}.example:443`)) as [Lane, Lane, Lane];
    places.take(a);
    places.leaveWire(a);
    places.leave();
    expect(places.busy).toEqual([]);
    expect(taken(places, a, a, b, b, c)).toEqual([true, true, true, true, false]);
    expect(places.busy).toEqual([
      { ...a, inFlight: 2 },
      { ...b, inFlight: 2 },
    ]);
  });

  it('of a merchant that became free are for its other endpoints too, after the next claim', () => {
    const places = new Occupancy(BOUNDS);
    const [a, b, c] = ['a', 'b', 'c'].map((host) => lane(1, `${host}.example:443`)) as [Lane, Lane, Lane];
    taken(places, a, a, b, b, c);
    places.leaveWire(a);
    places.leave();
    expect(places.take(c)).toBe(false);
    places.answered(places.ask(), []);
    expect(places.isAwaited(c)).toBe(false);
    expect(taken(places, c, c)).toEqual([true, false]);
  });

  it('are there for one more where neither the endpoint, the merchant nor everything is full', () => {
    const other = lane(1, 'b.example:443');
    const occupied = (...lanes: Lane[]): Occupancy => {
      const places = new Occupancy(BOUNDS);
      for (const one of lanes) places.occupy(one);
      return places;
    };
    expect(occupied(ONE).hasRoomFor(ONE)).toBe(true);
    expect(occupied(ONE, ONE).hasRoomFor(ONE)).toBe(false);
    expect(occupied(ONE, ONE).hasRoomFor(other)).toBe(true);
    expect(occupied(ONE, ONE, other, other).hasRoomFor(lane(1, 'c.example:443'))).toBe(false);
    const six = [1, 2, 3, 4, 5, 6].map((merchantId) => lane(merchantId, 'a.example:443'));
    expect(occupied(...six.slice(1)).hasRoomFor(ONE)).toBe(true);
    expect(occupied(...six).hasRoomFor(lane(7, 'a.example:443'))).toBe(false);
  });

  describe('that a claim has filled', () => {
    const claim = (places: Occupancy, claimed: readonly Lane[], meanwhile: () => void = () => undefined): boolean => {
      const asked = places.ask();
      for (const one of claimed) places.occupy(one);
      meanwhile();
      return places.answered(asked, claimed);
    };
    const [a, b, c] = ['a', 'b', 'c'].map((host) => lane(1, `${host}.example:443`)) as [Lane, Lane, Lane];
    const six = [1, 2, 3, 4, 5, 6].map((merchantId) => lane(merchantId, 'a.example:443'));

    it('may be waited for at a full endpoint', () => {
      const places = new Occupancy(BOUNDS);
      expect(claim(places, [a, a])).toBe(false);
      expect([places.isAwaited(a), places.isAwaited(b)]).toEqual([true, false]);
    });

    it('may be waited for at every endpoint of a full merchant', () => {
      const places = new Occupancy(BOUNDS);
      expect(claim(places, [a, a, b, b])).toBe(false);
      expect([places.isAwaited(c), places.isAwaited(lane(2, 'a.example:443'))]).toEqual([true, false]);
    });

    it('may be waited for by everything where it took all it was allowed to', () => {
      const places = new Occupancy(BOUNDS);
      expect(claim(places, six)).toBe(false);
      expect(places.isAwaited(lane(7, 'a.example:443'))).toBe(true);
    });

    it('are waited for by nothing where it left some', () => {
      const places = new Occupancy(BOUNDS);
      expect(claim(places, six.slice(1))).toBe(false);
      expect(places.isAwaited(lane(7, 'a.example:443'))).toBe(false);
    });

    it.each([
      ['endpoint', [a, a]],
      ['merchant', [a, a, b, b]],
      ['all', six],
    ])('and that became free before it came back are claimed again: %s', (_, claimed) => {
      const places = new Occupancy(BOUNDS);
      const isFree = claim(places, claimed, () => {
        places.leaveWire(a);
        places.leave();
      });
      expect(isFree).toBe(true);
    });
  });

  it('whatever comes and goes: no bound is passed and the sums are right', () => {
    const lanes = [1, 2, 3].flatMap((merchantId) => ['a', 'b', 'c'].map((host) => lane(merchantId, host)));
    const step = fc.record({ which: fc.nat(8), action: fc.constantFrom('take', 'leave', 'claim') });
    /** How often each bound was reached, and a place was given back. */
    const reached = { inAll: 0, perMerchant: 0, perEndpoint: 0, left: 0 };
    fc.assert(
      fc.property(fc.array(step, { minLength: 50, maxLength: 100 }), (steps) => {
        const places = new Occupancy(BOUNDS);
        const onTheWire: Lane[] = [];
        for (const { which, action } of steps) {
          if (action === 'claim') places.answered(places.ask(), []);
          if (action === 'take' && places.take(lanes[which]!)) onTheWire.push(lanes[which]!);
          const leaving = action === 'leave' ? onTheWire.splice(which % Math.max(onTheWire.length, 1), 1) : [];
          for (const one of leaving) {
            places.leaveWire(one);
            places.leave();
            reached.left++;
          }
          expect(BOUNDS.inAll - places.room).toBe(onTheWire.length);
          expect(places.busy.reduce((sum, { inFlight }) => sum + inFlight, 0)).toBe(onTheWire.length);
          const mostOfAnEndpoint = Math.max(0, ...places.busy.map(({ inFlight }) => inFlight));
          const mostOfAMerchant = Math.max(
            ...[1, 2, 3].map((id) => onTheWire.filter(({ merchantId }) => merchantId === id).length),
          );
          expect(mostOfAnEndpoint).toBeLessThanOrEqual(BOUNDS.perEndpoint);
          expect(mostOfAMerchant).toBeLessThanOrEqual(BOUNDS.perMerchant);
          if (places.room === 0) reached.inAll++;
          if (mostOfAMerchant === BOUNDS.perMerchant) reached.perMerchant++;
          if (mostOfAnEndpoint === BOUNDS.perEndpoint) reached.perEndpoint++;
        }
      }),
    );
    for (const [what, times] of Object.entries(reached)) expect([what, times > 20]).toEqual([what, true]);
  });
});
