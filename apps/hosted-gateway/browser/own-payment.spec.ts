import { storeOwnPayment } from './own-payment.js';

/** The cookie that `storeOwnPayment` writes in a page with this protocol and these cookies. */
function storeIn({ protocol, cookie }: { protocol: string; cookie: string }): string {
  const replaced = { document: { cookie }, location: { protocol } };
  const originals = Object.keys(replaced).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  try {
    for (const [name, value] of Object.entries(replaced))
      Object.defineProperty(globalThis, name, { value, configurable: true });
    storeOwnPayment('/c/01234567890123456789', 'new');
    return replaced.document.cookie;
  } finally {
    for (const [name, original] of originals)
      if (original) Object.defineProperty(globalThis, name, original);
      else delete (globalThis as Record<string, unknown>)[name];
  }
}

const ATTRIBUTES = 'path=/c/01234567890123456789; max-age=86400; samesite=lax';

test.each([
  ['https:', '', `svc-payment=new; ${ATTRIBUTES}; secure`],
  ['https:', 'other=1; svc-payment=old', `svc-payment=new.old; ${ATTRIBUTES}; secure`],
  // Only in development: the payment page is always on https otherwise.
  ['http:', '', `svc-payment=new; ${ATTRIBUTES}`],
])('on a page with the protocol %s and the cookies "%s", the cookie is "%s"', (protocol, cookie, expected) =>
  expect(storeIn({ protocol, cookie })).toBe(expected),
);
