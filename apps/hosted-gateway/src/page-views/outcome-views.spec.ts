import {
  declined,
  everyState,
  open,
  order,
  render,
  reversedCharges,
  succeeded,
  textOf,
  verification,
  withoutLanguages,
} from '../../test/pages.js';
import type { PayPageModel } from './pay-page-model.js';

const ofSessions = everyState.filter(({ state }) => !['not-found', 'till', 'unavailable'].includes(state));

describe('the other states', () => {
  it('processing asks the payer to wait, and reloads automatically without scripts', () => {
    const html = render({ ...order, state: 'processing', isLate: false });
    expect(textOf(html)).toContain('Confirming with your bank…');
    expect(/<p class="hint" id="processing-late" hidden/.test(html)).toBe(true);
    const late = render({ ...order, state: 'processing', isLate: true });
    expect(textOf(late)).toContain('Still checking with your bank. Do not pay again.');
    expect(/<p class="hint" id="processing-late" hidden/.test(late)).toBe(false);
    expect(html).toMatch(/<noscript><meta http-equiv="refresh" content="5"\s*\/?><\/noscript>/);
    expect(html).not.toContain('<form');
  });

  it('verification links to the bank with its deadline, and offers another card while an attempt is left', () => {
    const html = render(verification);
    expect(html).toContain('href="https://bank.example/challenges/1?a=b&amp;c=d"');
    expect(textOf(html)).toContain('Nothing is charged before you have confirmed.');
    for (const told of ['20 November 2026 at 18:18 UTC', '20 November 2026 at 18:03 UTC', '**** 3220', 'R 123.45'])
      expect(textOf(html)).toContain(told);
    expect(html).toContain('href="?sessionId=1&amp;card=another"');
    expect(html).toMatch(/<noscript><meta http-equiv="refresh"/);
    const { anotherCardUrl: _, ...alone } = verification;
    expect(render(alone)).not.toContain('card=another');
    expect(render({ ...verification, verificationUrl: 'javascript:alert(1)' })).not.toContain('javascript');
  });

  it('every state shows reversed charges: amount, card and time', () => {
    for (const model of ofSessions) {
      const text = textOf(render({ ...model, reversedCharges } as PayPageModel));
      for (const told of ['was given back to your card', 'R 99.00', '**** 0119', '20 November 2026 at 18:04 UTC'])
        expect(text).toContain(told);
    }
    expect(render({ ...open, reversedCharges: [] })).not.toContain('given back');
    expect(render(open)).not.toContain('given back');
  });

  it('the page has a mark in the colour of the merchant, for any name', () => {
    const markOf = (merchantName: string) =>
      /<span class="mark tone-(\d)"[^>]*>([^<]*)<\/span>/.exec(render({ ...open, merchantName }));
    expect(markOf('karoo coffee')?.slice(1)).toEqual(markOf('karoo coffee')?.slice(1));
    expect(markOf('karoo coffee')?.[2]).toBe('K');
    expect(markOf('"><b>7</b>')?.[2]).toBe('B');
    expect([markOf('😀')?.[2], markOf('')?.[2], markOf('\u202E…')?.[2]]).toEqual(['•', '•', '•']);
    const tones = new Set(Array.from({ length: 200 }, (_, index) => markOf(`Shop ${index}`)?.[1]));
    expect(tones.size).toBe(8);
  });

  it('succeeded is a receipt with a link that works without scripts', () => {
    const html = render(succeeded);
    for (const shown of ['Payment successful', '1VQ5K3P0ABCDEFGHJK', '20 November 2026 at 18:03 UTC', 'R 123.45']) {
      expect(textOf(html)).toContain(shown);
    }
    expect(html).toContain(
      '<a class="primary" id="return-link" href="https://shop.example/thanks?paymentStatus=Success">',
    );
    const text = textOf(html);
    for (const once of ['R 123.45', 'order-1001', '**** 4242'])
      expect([once, text.split(once).length]).toEqual([once, 2]);
    expect(text).toContain('give the payment reference');
    const { cardLabel: _, ...charge } = succeeded.charge!;
    expect(textOf(render({ ...succeeded, charge }))).not.toContain('Card');
    expect(textOf(html)).toContain('Return to Karoo Coffee');
    expect(html).toContain('id="returning"');
  });

  it('every state of a test session, but not of a live session, shows that no money moves', () => {
    for (const model of [open, declined, succeeded, verification]) {
      expect(textOf(render({ ...model, isTest: true }))).toContain('TEST: no money moves');
      expect(textOf(render(model))).not.toContain('TEST');
    }
  });

  it('the form offers a reload link in case the script does not load', () => {
    expect(render(open)).toContain('<a href>load the page again</a>');
    expect(render(succeeded)).not.toContain('script-late');
  });

  it('already-paid has the receipt and does not redirect', () => {
    const html = render({ ...succeeded, state: 'already-paid' });
    expect(textOf(html)).toContain('This order is already paid');
    expect(html).not.toContain('id="returning"');
  });

  it.each([
    ['refused', 'This payment cannot be tried again'],
    ['expired', 'This payment page has expired'],
    ['cancelled', 'This payment was cancelled'],
  ] as const)('the page of a session that is %s shows its state, and that nothing was charged', (state, heading) => {
    const html = render({ ...order, state });
    expect(textOf(html)).toContain(heading);
    expect(textOf(html)).toContain('Nothing was charged.');
    expect(html).not.toContain('<form');
    expect(html).not.toContain('data-encryption-key');
  });

  it('not-found reveals nothing about any session', () => {
    const html = render({ state: 'not-found' });
    expect(textOf(html)).toContain('This payment page does not exist');
    expect(html).not.toContain('data-session-id');
    expect(withoutLanguages(html)).not.toContain('<a ');
  });
});
