import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { GUARDS_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import type { AuthenticatedMerchant } from '@svc/auth';
import { CallingSite, ForSites } from './require-site.guard.js';

@ForSites()
class Invoices {
  find(@CallingSite() site: unknown): unknown {
    return site;
  }
}

const [, RequireSiteGuard] = Reflect.getMetadata(GUARDS_METADATA, Invoices) as Type<CanActivate>[];
const [callingSite] = Object.values(
  Reflect.getMetadata(ROUTE_ARGS_METADATA, Invoices, 'find') as Record<
    string,
    { factory: (data: unknown, context: ExecutionContext) => unknown }
  >,
);
const merchant: AuthenticatedMerchant = { keyId: 'k', mode: 'test', merchantId: 7, siteId: 9, siteExists: true };

/** The context of a request of this merchant. */
const createContext = (changes: Partial<AuthenticatedMerchant>): ExecutionContext =>
  ({ switchToHttp: () => ({ getRequest: () => ({ merchant: { ...merchant, ...changes } }) }) }) as ExecutionContext;

it('ForSites admits a merchant on the path of a site that exists, and CallingSite returns this site', () => {
  expect(new RequireSiteGuard!().canActivate(createContext({}))).toBe(true);
  expect(callingSite!.factory(undefined, createContext({}))).toEqual({ merchantId: 7, siteId: 9, mode: 'test' });
});

it.each([['a site of another merchant', { siteExists: false }] as const, ['no site', { siteId: undefined }] as const])(
  'ForSites rejects a merchant on a path with %s',
  (_, changes) => {
    expect(() => new RequireSiteGuard!().canActivate(createContext(changes))).toThrow('There is no such site.');
  },
);

it('CallingSite throws if the path has no site, because the route is not for sites', () => {
  expect(() => callingSite!.factory(undefined, createContext({ siteId: undefined }))).toThrow('@ForSites()');
});
