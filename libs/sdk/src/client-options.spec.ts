import { HostedGatewayClient } from './hosted-gateway/hosted-gateway-client.js';
import { MerchantClient } from './merchant/merchant-client.js';
import { PartnerClient } from './partner/partner-client.js';

const gateway = { gatewayUrl: 'https://pay.example', merchantId: 1001, siteId: 2, apiKey: 'svc_test_site_1' };
const merchant = { apiUrl: 'https://api.example', merchantId: 1001, apiKey: 'svc_test_merchant_1' };
const partner = { apiUrl: 'https://api.example', apiKey: 'svc_test_partner_1', organisationId: 'o', apiToken: 't' };
const MISSING = 'is missing: check the setting that it comes from';
const ADDRESS = 'must be an http(s) address, as in https://pay.example.com';
const CHARACTER = 'has a space, a line break or another invalid character';

it.each([
  ['gatewayUrl', undefined, MISSING],
  ['gatewayUrl', '', MISSING],
  ['gatewayUrl', 'pay.example', ADDRESS],
  ['gatewayUrl', 'ftp://pay.example', ADDRESS],
  ['gatewayUrl', 'https://pay.example\n', CHARACTER],
  ['gatewayUrl', 'https://user:secret@pay.example', 'must be an address without a user, a query and a fragment'],
  ['gatewayUrl', 'https://pay.example/?a=b', 'must be an address without a user, a query and a fragment'],
  ['merchantId', undefined, MISSING],
  ['merchantId', 'shop', 'must be digits'],
  ['siteId', null, MISSING],
  ['siteId', '..', 'must be digits'],
  ['apiKey', 'svc_test_site_1\n', CHARACTER],
  ['apiKey', '', MISSING],
  ['apiKey', 1, 'must be text'],
  ['version', 'v4', 'must be v3.1 or v3'],
])('a client of the gateway reports what is wrong with %s %j', (name, value, says) => {
  const options = { ...gateway, [name]: value };
  expect(() => new HostedGatewayClient(options)).toThrow(new TypeError(`${name} ${says}`));
});

it.each([
  ['apiUrl', undefined, MISSING],
  ['apiUrl', 'ftp://api.example', ADDRESS],
  ['merchantId', undefined, MISSING],
  ['merchantId', '1/2', 'must be digits'],
  ['apiKey', undefined, MISSING],
])('a client of a merchant reports what is wrong with %s %j', (name, value, says) => {
  expect(() => new MerchantClient({ ...merchant, [name]: value })).toThrow(new TypeError(`${name} ${says}`));
});

it.each([
  ['apiUrl', undefined, MISSING],
  ['apiKey', undefined, MISSING],
  ['organisationId', undefined, MISSING],
  ['apiToken', ' t', CHARACTER],
])('a client of a partner reports what is wrong with %s %j', (name, value, says) => {
  expect(() => new PartnerClient({ ...partner, [name]: value })).toThrow(new TypeError(`${name} ${says}`));
});

it('clients accept valid options, and the gateway client also accepts options without a key', () => {
  const { apiKey: _, ...keyless } = gateway;
  expect(new HostedGatewayClient(keyless)).toBeInstanceOf(HostedGatewayClient);
  expect(new MerchantClient(merchant)).toBeInstanceOf(MerchantClient);
  expect(new PartnerClient(partner)).toBeInstanceOf(PartnerClient);
});
