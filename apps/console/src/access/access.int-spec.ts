/**
 * Who may open which page: a table that is made from the routes, so that a new page is in it. Each page is opened as each
 * role, as a person of another merchant and of another site, as an operator, without a session, and before the second factor.
 */
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { canOperate, OPERATOR_ROLES, ROLES, ROLES_WITH_RIGHT } from '@svc/contracts';
import {
  createMerchant,
  newPayment,
  type Page,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
} from '../../test/console.js';
import { answerAdministration } from '../../test/operators.js';
import { ConsoleModule } from '../app.module.js';
import { ACCESS, type Access, AccessGuard, type MerchantAccess, type OperatorAccess } from './access.guard.js';

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly access: Access | undefined;
}

const GUARDS = '__guards__';

/** The handlers of all controllers that {@link AccessGuard} protects. */
function listRoutes(): Route[] {
  const controllers = Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, ConsoleModule) as (new () => object)[];
  const pages = controllers.filter((controller) =>
    (Reflect.getMetadata(GUARDS, controller) as unknown[] | undefined)?.includes(AccessGuard),
  );
  return pages.flatMap(({ prototype }) =>
    Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = (prototype as Record<string, object>)[name]!;
      const ownPath = Reflect.getMetadata(PATH_METADATA, handler) as string | undefined;
      if (ownPath === undefined || name === 'constructor') return [];
      const prefix = Reflect.getMetadata(PATH_METADATA, prototype.constructor as object) as string;
      const path = `/${[prefix, ownPath].filter((part) => part !== '' && part !== '/').join('/')}`;
      const method = Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.POST ? 'POST' : 'GET';
      return [{ method, path, access: Reflect.getMetadata(ACCESS, handler) as Access | undefined }];
    }),
  );
}

const ROUTES = listRoutes();
type RouteWith<A> = Route & { readonly access: A };
const isObject = ({ access }: Route): boolean => typeof access === 'object';
const ofMerchant = ROUTES.filter(
  (route): route is RouteWith<MerchantAccess> => isObject(route) && 'right' in (route.access as object),
);
const ofOperators = ROUTES.filter(
  (route): route is RouteWith<OperatorAccess> => isObject(route) && 'operator' in (route.access as object),
);

let app: TestConsole;
let merchant: TestMerchant;
let other: TestMerchant;
let reference: string;
beforeAll(async () => {
  app = await startConsole();
  await answerAdministration(app);
  [merchant, other] = [await createMerchant(app), await createMerchant(app)];
  const payment = newPayment(merchant, new Date('2026-03-01T09:00:00Z'));
  await store(app, payment);
  reference = payment.paymentReference;
});
afterAll(() => app.stop());

const fill = (path: string): string =>
  path
    .replace(':merchantId', String(merchant.merchantId))
    .replace(':mode', 'test')
    .replace(':paymentReference', reference)
    .replace(':requestId', '019ca8d7-25ab-777e-8b20-51e25d3ed4e3')
    .replace(':service', 'identity')
    .replace(':form', 'keys')
    .replace(/:(?:runId|messageId|organisationId)/, '019ca8d7-25ab-777e-8b20-51e25d3ed4e3')
    .replace(':day', '2026-02-10')
    .replace(':id', '019ca8d7-25ab-777e-8b20-51e25d3ed4e3');
const open = (browser: ReturnType<TestConsole['signIn']>, { method, path }: Route): Promise<Page> =>
  method === 'GET' ? browser.get(fill(path)) : browser.post(fill(path));

test('every handler says who may call it', () => {
  expect(ROUTES.length).toBeGreaterThan(15);
  expect(ROUTES.filter(({ access }) => access === undefined)).toEqual([]);
});

describe.each(
  ofMerchant
    .filter(({ path }) => !path.endsWith('/live'))
    .map((route) => [`${route.method} ${route.path}`, route] as const),
)('%s', (_, route) => {
  const { right } = route.access;

  it.each(ROLES)('as %s is allowed exactly if the role has the right', async (role) => {
    const { status } = await open(app.signIn([merchant.grant(role)]), route);
    expect(status === 403).toBe(!(ROLES_WITH_RIGHT[right] as readonly string[]).includes(role));
  });

  it('does not exist for a person of another merchant', async () => {
    expect((await open(app.signIn([other.grant('owner')]), route)).status).toBe(404);
  });

  it.each(OPERATOR_ROLES)(
    'does not exist for the %s of the platform, who has no role at the merchant',
    async (role) => {
      expect((await open(app.signIn([], { operatorRole: role }), route)).status).toBe(404);
    },
  );

  it('without a session leads to the sign-in', async () => {
    const { status, headers } = await open(app.anonymous(), route);
    expect([status, String(headers['location']).split('?')[0]]).toEqual([303, '/sign-in']);
  });

  it('before the second factor leads to its set-up', async () => {
    const person = app.signIn([merchant.grant('owner')], { setUpRequired: true });
    const { status, headers } = await open(person, route);
    expect([status, headers['location']]).toEqual([303, '/account/second-factor']);
  });
});

test('the pages of operators, and only these, are below /operator', () => {
  expect(ofOperators.length).toBeGreaterThan(0);
  const below = ROUTES.filter(({ path }) => path === '/operator' || path.startsWith('/operator/'));
  expect(ofOperators).toEqual(below);
});

describe.each(ofOperators.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  it.each(OPERATOR_ROLES)('as %s is allowed exactly if the role has the right', async (role) => {
    const { status } = await open(app.signIn([], { operatorRole: role }), route);
    expect(status === 403).toBe(!canOperate(role, route.access.operator));
  });

  it.each(ROLES)('does not exist for the %s of a merchant', async (role) => {
    expect((await open(app.signIn([merchant.grant(role)]), route)).status).toBe(404);
  });

  it('without a session leads to the sign-in', async () => {
    const { status, headers } = await open(app.anonymous(), route);
    expect([status, String(headers['location']).split('?')[0]]).toEqual([303, '/sign-in']);
  });

  it('before the second factor leads to its set-up', async () => {
    const { status, headers } = await open(app.signIn([], { setUpRequired: true }), route);
    expect([status, headers['location']]).toEqual([303, '/account/second-factor']);
  });
});

test('an operator with a role at a merchant has exactly the rights of this role there', async () => {
  const browser = app.signIn([merchant.grant('developer')], { operatorRole: 'operator' });
  expect((await browser.get(fill('/:merchantId/:mode/payments'))).status).toBe(200);
  expect((await browser.get(fill('/:merchantId/:mode/team'))).status).toBe(403);
  expect((await browser.get('/operator')).status).toBe(200);
});

test('a sensitive action needs a sign-in or a confirmation of the last ten minutes', async () => {
  const sensitive = [...ofMerchant, ...ofOperators].filter(({ access }) => 'isConfirmed' in access);
  expect(sensitive.length).toBeGreaterThan(5);
  for (const route of sensitive) {
    const openAfter = (milliseconds: number) =>
      open(
        app.signIn([merchant.grant('owner')], {
          operatorRole: 'operator',
          authenticatedUTCDate: new Date(app.clock.now().getTime() - milliseconds).toISOString(),
        }),
        route,
      );
    expect((await openAfter(599_999)).headers).not.toMatchObject({
      location: expect.stringContaining('/account/confirm'),
    });
    const { status, headers } = await openAfter(600_000);
    expect([route.path, status, headers['location']]).toEqual([
      route.path,
      303,
      expect.stringMatching(/^\/account\/confirm\?next=/),
    ]);
  }
});

describe.each(ROUTES.filter(({ method }) => method === 'POST').map((route) => [route.path, route] as const))(
  'a form to %s',
  (_, { path, access }) => {
    it('from another site is refused', async () => {
      const browser = app.signIn([merchant.grant('owner')]);
      for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }])
        expect((await browser.post(fill(path), {}, headers)).status).toBe(403);
    });

    it('without the token of the page is refused, unless the page needs no session', async () => {
      const browser = app.signIn([merchant.grant('owner')]);
      const { status } = await browser.post(fill(path), { csrf: 'x' });
      expect(status === 403).toBe(access !== 'public');
    });
  },
);

test('a mode that does not exist is not found, and so is a merchant that is not a number', async () => {
  const browser = app.signIn([merchant.grant('owner')]);
  for (const path of [`/${merchant.merchantId}/TEST/payments`, '/x/test/payments', `/0${merchant.merchantId}/test`])
    expect((await browser.get(path)).status).toBe(404);
});

test('every page forbids frames and scripts of others, and is kept nowhere', async () => {
  const { headers } = await app.signIn([merchant.grant('owner')]).get(fill('/:merchantId/:mode/payments'));
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(headers['content-security-policy']).toContain("script-src 'self'");
  expect(headers['cache-control']).toBe('no-store');
});

test('the sign-in page mentions ./svc up in development only', async () => {
  expect((await app.anonymous().get('/sign-in')).text).toContain('./svc up prints a link');
  const inProduction = await startConsole('https://console.svc.example');
  try {
    expect((await inProduction.anonymous().get('/sign-in')).text).not.toContain('./svc up');
  } finally {
    await inProduction.stop();
  }
});

test('after the sign-in only a path of the console is opened', async () => {
  for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a\nb'])
    expect((await app.anonymous().get(`/sign-in?next=${encodeURIComponent(next)}`)).html).toContain(
      'name="next" value="/"',
    );
  expect((await app.anonymous().get('/sign-in?next=%2F1001%2Ftest')).html).toContain('name="next" value="/1001/test"');
});
