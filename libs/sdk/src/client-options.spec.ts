import { requiredBaseUrl, requiredDigits } from './client-options.js';
import { HostedGatewayClient } from './hosted-gateway/hosted-gateway-client.js';
import { MerchantClient } from './merchant/merchant-client.js';
import { PartnerClient } from './partner/partner-client.js';

const gateway = { gatewayUrl: 'https://pay.example', merchantId: 1001, siteId: 2, apiKey: 'svc_test_site_1' };
const merchant = { apiUrl: 'https://api.example', merchantId: 1001, apiKey: 'svc_test_merchant_1' };
const partner = { apiUrl: 'https://api.example', apiKey: 'svc_test_partner_1', organisationId: 'o', apiToken: 't' };
const MISSING_ERROR = 'is missing: check the setting that it comes from';
const ADDRESS_ERROR = 'must be an http(s) address, as in https://pay.example.com';
const CHARACTER_ERROR = 'has a space, a line break or another invalid character';

it.each([
  ['https://pay.example', 'https://pay.example'],
  ['http://127.0.0.1:7301/', 'http://127.0.0.1:7301'],
  ['https://pay.example/svc', 'https://pay.example/svc'],
  ['https://pay.example/a//b//', 'https://pay.example/a//b'],
])('requiredBaseUrl(%p) is %p', (url, expected) => expect(requiredBaseUrl(url, 'gatewayUrl')).toBe(expected));

it.each([
  [1001, '1001'],
  ['1001', '1001'],
  ['0000000000000001', '0000000000000001'],
])('requiredDigits(%p) is %p', (id, expected) => expect(requiredDigits(id, 'merchantId')).toBe(expected));

it.each([
  ['gatewayUrl', undefined, MISSING_ERROR],
  ['gatewayUrl', '', MISSING_ERROR],
  ['gatewayUrl', 'pay.example', ADDRESS_ERROR],
  ['gatewayUrl', 'ftp://pay.example', ADDRESS_ERROR],
  ['gatewayUrl', 'https://pay.example\n', CHARACTER_ERROR],
  ['gatewayUrl', 'https://user:secret@pay.example', 'must be an address without a user, a query and a fragment'],
  ['gatewayUrl', 'https://user@pay.example', 'must be an address without a user, a query and a fragment'],
  ['gatewayUrl', 'https://:secret@pay.example', 'must be an address without a user, a query and a fragment'],
  ['gatewayUrl', 'https://pay.example/#a', 'must be an address without a user, a query and a fragment'],
  ['gatewayUrl', 'https://pay.example/?a=b', 'must be an address without a user, a query and a fragment'],
  ['merchantId', undefined, MISSING_ERROR],
  ['merchantId', 'shop', 'must be digits'],
  ['merchantId', '12345678901234567', 'must be digits'],
  ['merchantId', [1001], 'must be digits'],
  ['siteId', null, MISSING_ERROR],
  ['siteId', '..', 'must be digits'],
  ['apiKey', 'svc_test_site_1\n', CHARACTER_ERROR],
  ['apiKey', '', MISSING_ERROR],
  ['gatewayUrl', null, MISSING_ERROR],
  ['apiKey', 1, 'must be text'],
  ['version', 'v4', 'must be v3.1 or v3'],
])('HostedGatewayClient refuses the option %s with the value %j', (name, value, problem) => {
  const options = { ...gateway, [name]: value };
  expect(() => new HostedGatewayClient(options)).toThrow(new TypeError(`${name} ${problem}`));
});

it.each([
  ['apiUrl', undefined, MISSING_ERROR],
  ['apiUrl', 'ftp://api.example', ADDRESS_ERROR],
  ['merchantId', undefined, MISSING_ERROR],
  ['merchantId', '1/2', 'must be digits'],
  ['apiKey', undefined, MISSING_ERROR],
])('MerchantClient refuses the option %s with the value %j', (name, value, problem) => {
  expect(() => new MerchantClient({ ...merchant, [name]: value })).toThrow(new TypeError(`${name} ${problem}`));
});

it.each([
  ['apiUrl', undefined, MISSING_ERROR],
  ['apiKey', undefined, MISSING_ERROR],
  ['organisationId', undefined, MISSING_ERROR],
  ['apiToken', ' t', CHARACTER_ERROR],
])('PartnerClient refuses the option %s with the value %j', (name, value, problem) => {
  expect(() => new PartnerClient({ ...partner, [name]: value })).toThrow(new TypeError(`${name} ${problem}`));
});

it('each client accepts valid options, and HostedGatewayClient also accepts options without a key', () => {
  const { apiKey: _, ...keyless } = gateway;
  expect(new HostedGatewayClient(keyless)).toBeInstanceOf(HostedGatewayClient);
  expect(new MerchantClient(merchant)).toBeInstanceOf(MerchantClient);
  expect(new PartnerClient(partner)).toBeInstanceOf(PartnerClient);
});
