/** Customers who buy one after the other at a Vendure shop, with the calls that its documentation gives for a storefront. */
import pg from 'pg';
import { Pool } from 'undici';

const ADDRESS = `fullName: "Thandi Nkosi", streetLine1: "1 Main Road", city: "Cape Town", postalCode: "8001", countryCode: "ZA"`;
const ORDER = '... on Order { id state } ... on ErrorResult { errorCode message }';

export class Shop {
  orders = 0;
  private readonly pool: Pool;
  private variant: Promise<string> | undefined;
  private shipping: string | undefined;

  constructor(url: string, connections: number) {
    this.pool = new Pool(url, { connections });
  }

  /** From an empty cart to a captured payment. @throws Error when the payment does not succeed */
  async buy(): Promise<void> {
    this.variant ??= this.findVariant();
    const variant = await this.variant;
    const visitor = new ShopSession(this.pool);
    await visitor.query(`mutation { addItemToOrder(productVariantId: ${variant}, quantity: 1) { ${ORDER} } }`);
    const customer = `emailAddress: "customer-${++this.orders}@shop.test", firstName: "Thandi", lastName: "Nkosi"`;
    await visitor.query(
      `mutation { setCustomerForOrder(input: { ${customer} }) { __typename ... on ErrorResult { message } } }`,
    );
    await visitor.query(`mutation { setOrderShippingAddress(input: { ${ADDRESS} }) { ${ORDER} } }`);
    this.shipping ??= await findShipping(visitor);
    await visitor.query(`mutation { setOrderShippingMethod(shippingMethodId: [${this.shipping}]) { ${ORDER} } }`);
    await visitor.query(`mutation { transitionOrderToState(state: "ArrangingPayment") { ${ORDER} } }`);
    const paid = await visitor.query(
      `mutation { addPaymentToOrder(input: { method: "card", metadata: {} }) { ${ORDER} } }`,
    );
    if (!paid.includes('"PaymentSettled"')) throw new Error(`The order was not paid: ${paid.slice(0, 300)}`);
  }

  /** Counts the orders with a captured payment in its database. */
  async paidOrders(databaseUrl: string): Promise<number> {
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
    const answer = await new ShopSession(this.pool).query('{ products { items { variants { id } } } }');
    return idIn(answer);
  }
}

async function findShipping(visitor: ShopSession): Promise<string> {
  return idIn(await visitor.query('{ eligibleShippingMethods { id } }'));
}

function idIn(answer: string): string {
  const id = /"id":"(\d+)"/.exec(answer)?.[1];
  if (id === undefined) throw new Error(`There is no id in ${answer.slice(0, 300)}`);
  return id;
}

class ShopSession {
  private readonly pool: Pool;
  private token: string | undefined;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  async query(query: string): Promise<string> {
    const answer = await this.pool.request({
      method: 'POST',
      path: '/shop-api',
      headers: {
        'content-type': 'application/json',
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
      },
      body: JSON.stringify({ query }),
    });
    const token = answer.headers['vendure-auth-token'];
    if (typeof token === 'string') this.token = token;
    const text = await answer.body.text();
    if (answer.statusCode !== 200 || text.includes('"errors"') || text.includes('"errorCode"'))
      throw new Error(`${query.slice(0, 80)}: ${answer.statusCode} ${text.slice(0, 300)}`);
    return text;
  }
}
