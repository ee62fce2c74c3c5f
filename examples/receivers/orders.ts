import { DatabaseSync } from 'node:sqlite';

export interface Order {
  orderId: string;
  /** Cents. */
  amount: number;
  /** Reference of the payment. Null if the order is not paid. */
  paidBy: string | null;
}

/** The orders of the shop, in an SQLite file. A payment must match one of these orders. */
export class Orders {
  private readonly database: DatabaseSync;

  constructor(file: string) {
    this.database = new DatabaseSync(file);
    this.database.exec(
      `CREATE TABLE IF NOT EXISTS orders (order_id TEXT PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount > 0), paid_by TEXT)`,
    );
  }

  place(orderId: string, amount: number): void {
    this.database
      .prepare(`INSERT INTO orders (order_id, amount) VALUES (?, ?) ON CONFLICT DO NOTHING`)
      .run(orderId, amount);
  }

  find(orderId: string): Order | undefined {
    return this.database
      .prepare(`SELECT order_id AS orderId, amount, paid_by AS paidBy FROM orders WHERE order_id = ?`)
      .get(orderId) as Order | undefined;
  }

  /**
   * Returns true only for the first payment of the order, and false for each repeat. Ship the order only if it returns
   * true.
   */
  markPaid(orderId: string, paymentReference: string): boolean {
    const { changes } = this.database
      .prepare(`UPDATE orders SET paid_by = ? WHERE order_id = ? AND paid_by IS NULL`)
      .run(paymentReference, orderId);
    return changes === 1;
  }
}
