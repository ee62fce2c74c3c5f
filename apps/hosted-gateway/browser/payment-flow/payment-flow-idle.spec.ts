import { type SessionState, whileIdle } from './payment-flow.js';

describe('whileIdle', () => {
  const shown = { state: 'open', version: '1' };
  const decline = { try: 2, title: 'Declined', next: 'Use another card.', triesLeft: '4 of 5 tries left.' };
  const declined = { state: 'declined', version: '3', decline };
  const idle = (received: SessionState, mayHaveArrived = false, tryNumber = 1, isTyped = false) =>
    whileIdle({ received, shown, tryNumber, mayHaveArrived, isTyped });

  it('keeps the input while another payer pays, unless that may be this payer', () => {
    const processing = { state: 'processing', version: '2' };
    expect(idle(processing, false, 1, true)).toEqual({ do: 'ignore' });
    expect(idle(processing, true, 1, true)).toEqual({ do: 'reload' });
    expect(idle({ state: 'succeeded', version: '3' }, false, 1, true)).toEqual({ do: 'reload' });
  });

  it('reports an attempt of another device if this one has sent nothing', () =>
    expect(idle(declined)).toEqual({ do: 'apply-state', state: declined, say: 'elsewhere' }));

  it('shows the decline as its own when a payment of this page may have arrived', () =>
    expect(idle(declined, true)).toEqual({ do: 'apply-state', state: declined, say: 'decline' }));

  it('reports nothing for an attempt that the form already offers', () => {
    for (const mayHaveArrived of [false, true])
      expect(idle(declined, mayHaveArrived, 2)).toEqual({ do: 'apply-state', state: declined, say: 'nothing' });
  });

  const coming = { try: 2, triesLeft: '4 of 5 tries left.' };
  const openAgain = { state: 'open', version: '3', coming };

  it('keeps the input when the attempt of another payer of an invoice has failed, and continues with the next', () => {
    for (const isTyped of [true, false])
      expect(idle(openAgain, false, 1, isTyped)).toEqual({ do: 'apply-state', state: openAgain, say: 'elsewhere' });
    for (const mayHaveArrived of [true, false])
      expect(idle(openAgain, mayHaveArrived, 2)).toEqual({ do: 'apply-state', state: openAgain, say: 'nothing' });
  });

  it('applies no state without a version', () => {
    const received = { state: 'open', coming };
    const input = { received, shown: { state: 'declined' }, tryNumber: 1, mayHaveArrived: false, isTyped: true };
    expect(whileIdle(input)).toEqual({ do: 'reload' });
  });

  it('reloads if the failed attempt may be one of this form', () =>
    expect(idle(openAgain, true)).toEqual({ do: 'reload' }));

  it('reloads for a state that the form cannot show', () => {
    for (const received of [
      { state: 'processing', version: '2' },
      { state: 'succeeded', version: '3' },
      { state: 'declined', version: '3' },
      { state: 'declined', version: '3', coming },
      { state: 'open', version: '3' },
      { state: 'expired', version: '3', coming },
    ])
      expect(idle(received)).toEqual({ do: 'reload' });
  });

  it('ignores the current state and older ones', () => {
    expect(idle({ state: 'open', version: '1' })).toEqual({ do: 'ignore' });
    expect(idle({ ...declined, version: '0' }, true)).toEqual({ do: 'ignore' });
  });
});
