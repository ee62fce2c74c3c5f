import { type SessionState, whileIdle } from './payment-flow.js';

describe('whileIdle', () => {
  const shown = { state: 'open', version: '1' };
  const decline = { try: 2, title: 'Declined', next: 'Use another card.', triesLeft: '4 of 5 tries left.' };
  const declined = { state: 'declined', version: '3', decline };
  const idle = (told: SessionState, mayHaveArrived = false, tryNumber = 1, isTyped = false) =>
    whileIdle({ told, shown, tryNumber, mayHaveArrived, isTyped });

  it('does not take away what is typed while somebody else pays, unless that may be this payer', () => {
    const processing = { state: 'processing', version: '2' };
    expect(idle(processing, false, 1, true)).toEqual({ do: 'ignore' });
    expect(idle(processing, true, 1, true)).toEqual({ do: 'reload' });
    expect(idle({ state: 'succeeded', version: '3' }, false, 1, true)).toEqual({ do: 'reload' });
  });

  it('says that another device has tried when this one has sent nothing', () =>
    expect(idle(declined)).toEqual({ do: 'take-up', state: declined, say: 'elsewhere' }));

  it('shows the decline as its own when a payment of this page may have arrived', () =>
    expect(idle(declined, true)).toEqual({ do: 'take-up', state: declined, say: 'decline' }));

  it('says nothing of a try that the form already offers', () => {
    for (const mayHaveArrived of [false, true])
      expect(idle(declined, mayHaveArrived, 2)).toEqual({ do: 'take-up', state: declined, say: 'nothing' });
  });

  const coming = { try: 2, triesLeft: '4 of 5 tries left.' };
  const openAgain = { state: 'open', version: '3', coming };

  it('keeps what is typed when the try of another payer of an invoice has failed, and goes on with the next', () => {
    for (const isTyped of [true, false])
      expect(idle(openAgain, false, 1, isTyped)).toEqual({ do: 'take-up', state: openAgain, say: 'elsewhere' });
    for (const mayHaveArrived of [true, false])
      expect(idle(openAgain, mayHaveArrived, 2)).toEqual({ do: 'take-up', state: openAgain, say: 'nothing' });
  });

  it('takes up no state that does not say which version it is', () => {
    const told = { state: 'open', coming };
    const input = { told, shown: { state: 'declined' }, tryNumber: 1, mayHaveArrived: false, isTyped: true };
    expect(whileIdle(input)).toEqual({ do: 'reload' });
  });

  it('leaves it to the whole page to say whose try has failed where that may be one of this form', () =>
    expect(idle(openAgain, true)).toEqual({ do: 'reload' }));

  it('loads the page again for what the form cannot show', () => {
    for (const told of [
      { state: 'processing', version: '2' },
      { state: 'succeeded', version: '3' },
      { state: 'declined', version: '3' },
      { state: 'declined', version: '3', coming },
      { state: 'open', version: '3' },
      { state: 'expired', version: '3', coming },
    ])
      expect(idle(told)).toEqual({ do: 'reload' });
  });

  it('ignores what is shown already, and what is older', () => {
    expect(idle({ state: 'open', version: '1' })).toEqual({ do: 'ignore' });
    expect(idle({ ...declined, version: '0' }, true)).toEqual({ do: 'ignore' });
  });
});
