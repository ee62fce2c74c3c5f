/**
 * A program that runs a Vendure shop, configured as in Vendure's documentation: on PostgreSQL, with one product, one
 * shipping method and Vendure's dummy payment handler, which captures immediately. vendure.ts starts it with its
 * settings as JSON. It prints `ready` when it accepts requests.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAlternative } from '../alternatives/install.ts';

export interface VendureSettings {
  /** Folder in which Vendure's packages are installed. */
  readonly folder: string;
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly port: number;
}

interface Vendure {
  bootstrap: (config: object) => Promise<unknown>;
  dummyPaymentHandler: object;
  DefaultLogger: new (options: object) => object;
  LogLevel: { Error: number };
}
interface VendureCli {
  populate: (start: () => Promise<unknown>, initialData: object, productsCsv: string) => Promise<unknown>;
}

const { folder, dataDir, databaseUrl, port } = JSON.parse(process.argv[2]!) as VendureSettings;
const { bootstrap, dummyPaymentHandler, DefaultLogger, LogLevel } = loadAlternative<Vendure>(folder, '@vendure/core');
const { populate } = loadAlternative<VendureCli>(folder, '@vendure/core/cli');

const config = {
  apiOptions: { port, hostname: '127.0.0.1', adminApiPath: 'admin-api', shopApiPath: 'shop-api' },
  authOptions: {
    tokenMethod: 'bearer',
    requireVerification: false,
    superadminCredentials: { identifier: 'superadmin', password: randomBytes(16).toString('hex') },
    cookieOptions: { secret: randomBytes(32).toString('hex') },
  },
  dbConnectionOptions: { type: 'postgres', url: databaseUrl, synchronize: true, logging: false },
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  importExportOptions: { importAssetsDir: dataDir },
  logger: new DefaultLogger({ level: LogLevel.Error }),
};

const INITIAL_DATA = {
  defaultLanguage: 'en',
  defaultZone: 'Africa',
  countries: [{ name: 'South Africa', code: 'ZA', zone: 'Africa' }],
  taxRates: [{ name: 'Standard Tax', percentage: 15 }],
  shippingMethods: [{ name: 'Standard Shipping', price: 0 }],
  paymentMethods: [
    {
      name: 'card',
      handler: { code: 'dummy-payment-handler', arguments: [{ name: 'automaticSettle', value: 'true' }] },
    },
  ],
  collections: [],
};

const PRODUCTS = `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets
Basket,basket,A basket,,,,,SKU-1,123.45,Standard Tax,100000000,false,,
`;

const productsCsv = join(dataDir, 'products.csv');
writeFileSync(productsCsv, PRODUCTS);
await populate(() => bootstrap(config), INITIAL_DATA, productsCsv);
console.log('ready');
