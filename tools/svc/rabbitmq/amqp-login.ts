/** Whether a RabbitMQ accepts a login. An open port is not enough: a broker that starts listens before it can take one. */
import { connect } from 'amqplib';

export type LoginAnswer = 'accepted' | 'refused' | 'no answer';

/** Until the broker has accepted the login. */
const ANSWER_MILLISECONDS = 3000;

/** @param url amqp:// or amqps:// address with user and password */
export async function tryLogin(url: string): Promise<LoginAnswer> {
  try {
    const connection = await connect(url, { timeout: ANSWER_MILLISECONDS });
    connection.on('error', () => undefined); // It may go away before it is closed.
    await connection.close().catch(() => undefined);
    return 'accepted';
  } catch (error) {
    return /ACCESS.REFUSED|NOT.ALLOWED/.test(String(error)) ? 'refused' : 'no answer';
  }
}
