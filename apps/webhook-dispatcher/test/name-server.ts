import { createSocket } from 'node:dgram';

/** The answer to a query for A records. `silence` means no answer, as if the server were down. */
type DnsAnswer = readonly string[] | 'silence';

const HEADER_BYTES = 12;
const TYPE_A = 1;

/**
 * A real DNS server on loopback. The test decides the answers, like an attacker who controls the name server of a host.
 */
export class NameServer {
  /** Names whose A records were queried, in order. */
  readonly queriedNames: string[] = [];
  private readonly socket = createSocket('udp4');

  /** `queryCount`: number of queries for A records of this name, including this query. 0 for other record types. */
  private constructor(private readonly answerQuery: (name: string, queryCount: number) => DnsAnswer) {
    this.socket.on('message', (query, { address, port }) => {
      const reply = this.createReply(query);
      if (reply) this.socket.send(reply, port, address);
    });
  }

  static async start(answerQuery: (name: string, queryCount: number) => DnsAnswer): Promise<NameServer> {
    const server = new NameServer(answerQuery);
    await new Promise<void>((bound) => server.socket.bind(0, '127.0.0.1', bound));
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async stop(): Promise<void> {
    await new Promise<void>((closed) => this.socket.close(closed));
  }

  private createReply(query: Buffer): Buffer | undefined {
    const labels: string[] = [];
    let offset = HEADER_BYTES;
    for (let length = query[offset]!; length > 0; length = query[offset]!) {
      labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
      offset += 1 + length;
    }
    const type = query.readUInt16BE(offset + 1);
    const question = query.subarray(HEADER_BYTES, offset + 5);
    const name = labels.join('.').toLowerCase();
    let addresses: readonly string[] = [];
    if (type === TYPE_A) {
      this.queriedNames.push(name);
      const answer = this.answerQuery(name, this.queriedNames.filter((queriedName) => queriedName === name).length);
      if (answer === 'silence') return undefined;
      addresses = answer;
    } else if (this.answerQuery(name, 0) === 'silence') return undefined;

    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8580, 2); // an answer, authoritative, no error
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    return Buffer.concat([header, question, ...addresses.map(createARecord)]);
  }
}

/** An A record of the queried name that may not be cached (TTL 0). */
function createARecord(address: string): Buffer {
  // A pointer to the name in the question, type A, class IN, TTL 0, and the length of the address.
  const fixed = [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4];
  return Buffer.from([...fixed, ...address.split('.').map(Number)]);
}
