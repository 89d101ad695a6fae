/**
 * Statuses: how a call failed, and whether it may have run.
 */

/** The codes of a status, with gRPC's numbers. */
export const Code = /* @__PURE__ */ coded() as {
  readonly OK: 0;
  readonly CANCELLED: 1;
  readonly UNKNOWN: 2;
  readonly INVALID_ARGUMENT: 3;
  readonly DEADLINE_EXCEEDED: 4;
  readonly NOT_FOUND: 5;
  readonly ALREADY_EXISTS: 6;
  readonly PERMISSION_DENIED: 7;
  readonly RESOURCE_EXHAUSTED: 8;
  readonly FAILED_PRECONDITION: 9;
  readonly ABORTED: 10;
  readonly OUT_OF_RANGE: 11;
  readonly UNIMPLEMENTED: 12;
  readonly INTERNAL: 13;
  readonly UNAVAILABLE: 14;
  readonly DATA_LOSS: 15;
  readonly UNAUTHENTICATED: 16;
};

/** One of the numbers of `Code`. */
export type Code = (typeof Code)[keyof typeof Code];

/** The numbers that this package uses itself: unlike an object, they take no room in a bundle. */
export const enum Is {
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
}

/**
 * The metadata of a call or a reply: keys of `a-z`, `0-9`, `-`, `_` and `.`; bytes under a key that ends in `-bin`, and
 * printable ASCII under any other; a list of them for a key with several values. */
export type Metadata = Readonly<Record<string, string | Uint8Array | readonly (string | Uint8Array)[]>>;

/** The parts of a status besides its code and text. */
export interface StatusOptions {
  /** Bytes whose format is up to the programs. */
  readonly details?: Uint8Array | undefined;
  readonly metadata?: Metadata | undefined;
  /** Whether the handler may have run. Default: `true`. */
  readonly mayHaveRun?: boolean | undefined;
  readonly cause?: unknown;
}

/** The failure of a call. */
export class Status extends Error {
  override readonly name = "Status";
  declare readonly code: Code;
  declare readonly details: Uint8Array;
  declare readonly metadata: Metadata;
  /**
   * Whether the call may have run. It is `false` if the request was not sent, or if the server rejected it before its
   * handler: then it is safe to call again.
   */
  declare readonly mayHaveRun: boolean;

  constructor(code: Code, message: string, options?: StatusOptions) {
    super(message, options);
    const { details = new Uint8Array(), metadata = {}, mayHaveRun = true } = options ?? {};
    Object.assign(this, { details, metadata, mayHaveRun, code });
  }

  /** Returns `error` if it is a status, and otherwise a status of code `UNKNOWN` with its text. */
  static from(error: unknown): Status {
    if (error instanceof Status) return error;
    return new Status(Is.UNKNOWN, textOf(error), { cause: error });
  }
}

function coded(): object {
  const names = "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED";
  return Object.fromEntries(names.split(" ").map((name, code) => [name, code]));
}

/** The text of anything thrown. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A status of a call that has not reached a handler. */
export const notRun = (code: Code, message: string): Status => new Status(code, message, { mayHaveRun: false });

/** An error as the status of a call that may have run, even if it is that of another call, which has not. */
export const mayHaveRun = (error: unknown): Status => {
  const status = Status.from(error);
  return status.mayHaveRun ? status : new Status(status.code, status.message, { ...status, mayHaveRun: true });
};

/** A number from the wire as a code. */
export const codeOf = (number: number): Code => (number > 0 && number <= 16 ? (number as Code) : Is.UNKNOWN);

/** A status of a call that this end abandons, whose request may have reached the server. */
export const ended = (code: Code, message: string, isSent: boolean): Status => new Status(code, isSent ? message : `not sent: ${message}`, { mayHaveRun: isSent });

/** The status of a call that its caller cancelled. */
export const givenUp = (isSent: boolean): Status => ended(Is.CANCELLED, "the caller cancelled the call", isSent);

/** The status of a call without a reply before its deadline, and why it was not sent. */
export const late = (isSent: boolean, trouble = ""): Status => ended(Is.DEADLINE_EXCEEDED, `deadline exceeded${trouble}`, isSent);
