import { decideWhileIdle, type SessionState } from './payment-flow.js';

describe('decideWhileIdle', () => {
  const shown = { state: 'open', version: '1' };
  const decline = {
    paymentNumber: 2,
    title: 'Declined',
    next: 'Use another card.',
    paymentsLeft: 'You have 4 of 5 attempts left.',
  };
  const declined = { state: 'declined', version: '3', decline };
  const decide = (received: SessionState, mayHaveArrived = false, paymentNumber = 1, isTyped = false) =>
    decideWhileIdle({ received, shown, paymentNumber, mayHaveArrived, isTyped });

  it('ignores the payment of another payer if the form is not empty, unless it may be a payment of this form', () => {
    const processing = { state: 'processing', version: '2' };
    expect(decide(processing, false, 1, true)).toEqual({ do: 'ignore' });
    expect(decide(processing, true, 1, true)).toEqual({ do: 'reload' });
    expect(decide({ state: 'succeeded', version: '3' }, false, 1, true)).toEqual({ do: 'reload' });
  });

  it('shows a notice about another payer if this form has sent nothing', () =>
    expect(decide(declined)).toEqual({ do: 'apply-state', state: declined, notice: 'other-payer' }));

  it('shows the decline as a decline of this form if a payment of this form may have arrived', () =>
    expect(decide(declined, true)).toEqual({ do: 'apply-state', state: declined, notice: 'own-decline' }));

  it('shows no notice if the form already offers the next payment', () => {
    for (const mayHaveArrived of [false, true])
      expect(decide(declined, mayHaveArrived, 2)).toEqual({ do: 'apply-state', state: declined, notice: 'none' });
  });

  const nextPayment = { paymentNumber: 2, paymentsLeft: 'You have 4 of 5 attempts left.' };
  const open = { state: 'open', version: '3', nextPayment };

  it('shows the form for the next payment after the payment of another payer of an invoice has failed', () => {
    for (const isTyped of [true, false])
      expect(decide(open, false, 1, isTyped)).toEqual({
        do: 'apply-state',
        state: open,
        notice: 'other-payer',
      });
    for (const mayHaveArrived of [true, false])
      expect(decide(open, mayHaveArrived, 2)).toEqual({ do: 'apply-state', state: open, notice: 'none' });
  });

  it('reloads if the state has no version', () => {
    const received = { state: 'open', nextPayment };
    const input = { received, shown: { state: 'declined' }, paymentNumber: 1, mayHaveArrived: false, isTyped: true };
    expect(decideWhileIdle(input)).toEqual({ do: 'reload' });
  });

  it('reloads if the failed payment may be a payment of this form', () =>
    expect(decide(open, true)).toEqual({ do: 'reload' }));

  it('reloads for a state that the form cannot show', () => {
    for (const received of [
      { state: 'processing', version: '2' },
      { state: 'succeeded', version: '3' },
      { state: 'declined', version: '3' },
      { state: 'declined', version: '3', nextPayment },
      { state: 'open', version: '3' },
      { state: 'expired', version: '3', nextPayment },
    ])
      expect(decide(received)).toEqual({ do: 'reload' });
  });

  it('ignores the state that is shown, and older states', () => {
    expect(decide({ state: 'open', version: '1' })).toEqual({ do: 'ignore' });
    expect(decide({ ...declined, version: '0' }, true)).toEqual({ do: 'ignore' });
  });
});
