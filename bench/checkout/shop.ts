/** Simulates customers of a Vendure shop, with the calls that Vendure's documentation recommends for a storefront. */
import pg from 'pg';
import { Pool } from 'undici';

const ADDRESS = `fullName: "Thandi Nkosi", streetLine1: "1 Main Road", city: "Cape Town", postalCode: "8001", countryCode: "ZA"`;
const ORDER_RESULT = '... on Order { id state } ... on ErrorResult { errorCode message }';

export class VendureCustomers {
  orderCount = 0;
  private readonly pool: Pool;
  private variantId: Promise<string> | undefined;
  private shippingMethodId: string | undefined;

  constructor(url: string, connections: number) {
    this.pool = new Pool(url, { connections });
  }

  /** Buys one product, from an empty cart to a captured payment. @throws Error if the payment does not succeed */
  async buy(): Promise<void> {
    this.variantId ??= this.findVariant();
    const variantId = await this.variantId;
    const session = new ShopSession(this.pool);
    await session.query(`mutation { addItemToOrder(productVariantId: ${variantId}, quantity: 1) { ${ORDER_RESULT} } }`);
    const customer = `emailAddress: "customer-${++this.orderCount}@shop.test", firstName: "Thandi", lastName: "Nkosi"`;
    await session.query(
      `mutation { setCustomerForOrder(input: { ${customer} }) { __typename ... on ErrorResult { message } } }`,
    );
    await session.query(`mutation { setOrderShippingAddress(input: { ${ADDRESS} }) { ${ORDER_RESULT} } }`);
    this.shippingMethodId ??= await findShippingMethod(session);
    await session.query(
      `mutation { setOrderShippingMethod(shippingMethodId: [${this.shippingMethodId}]) { ${ORDER_RESULT} } }`,
    );
    await session.query(`mutation { transitionOrderToState(state: "ArrangingPayment") { ${ORDER_RESULT} } }`);
    const paymentResponse = await session.query(
      `mutation { addPaymentToOrder(input: { method: "card", metadata: {} }) { ${ORDER_RESULT} } }`,
    );
    if (!paymentResponse.includes('"PaymentSettled"'))
      throw new Error(`The order was not paid: ${paymentResponse.slice(0, 300)}`);
  }

  /** Counts the orders with a captured payment in Vendure's database. */
  async countPaidOrders(databaseUrl: string): Promise<number> {
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    const { rows } = await database.query<{ count: string }>(
      `SELECT count(DISTINCT "orderId") FROM payment WHERE state = 'Settled'`,
    );
    await database.end();
    return Number(rows[0]!.count);
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private async findVariant(): Promise<string> {
    const response = await new ShopSession(this.pool).query('{ products { items { variants { id } } } }');
    return parseId(response);
  }
}

async function findShippingMethod(session: ShopSession): Promise<string> {
  return parseId(await session.query('{ eligibleShippingMethods { id } }'));
}

function parseId(response: string): string {
  const id = /"id":"(\d+)"/.exec(response)?.[1];
  if (id === undefined) throw new Error(`There is no id in ${response.slice(0, 300)}`);
  return id;
}

class ShopSession {
  private readonly pool: Pool;
  private token: string | undefined;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  async query(query: string): Promise<string> {
    const response = await this.pool.request({
      method: 'POST',
      path: '/shop-api',
      headers: {
        'content-type': 'application/json',
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
      },
      body: JSON.stringify({ query }),
    });
    const token = response.headers['vendure-auth-token'];
    if (typeof token === 'string') this.token = token;
    const text = await response.body.text();
    if (response.statusCode !== 200 || text.includes('"errors"') || text.includes('"errorCode"'))
      throw new Error(`${query.slice(0, 80)}: ${response.statusCode} ${text.slice(0, 300)}`);
    return text;
  }
}
