// The names of properties that no user and no generated code sees: `dist` has short ones in their place. None of them is
// the name of a property of the platform.
const NAMES = `alarm alarmAt backward beat begin bodyMax buffered callsMax closeIfIdle conclude consumed credited credits
  dialledAt deliver discard discards drain draining earn elsewhere enter expire failAll failures fields
  flushing givenUp greeted hasSent heard held hello high inFlight indexes isClosed isGroup isLeft isOpen isOver isUp judge
  knows lastStream leave letter lost matches memory missing mounts named need needsNaming numbers offered older opened
  packet packets partial progress pump raw readers received receiving refs refused release released retries room
  seen sendStatus sending serving settle silent sized slots spend stopSource streamId streams streamsMax
  subscriptions syncs tellEnd terms theirStream transport trouble unreachable varint varint64 waiting wakeSender wasReset
  waste wasted whenMetadata whenOver within credit calling dial owner up down left busy oneof member shape kind first
  depth take handler stop told over run wait start bytes out free ids known alarm setup flush tick handle
  message ended calls fail open link parts until before tokens queue give activate active refuse topicOf
  isFinished mount connected`.split(/\s+/);
// \`message\`, \`open\` and the like are names of the platform or of users.
const PUBLIC = new Set(["message", "open", "close", "buffered", "active", "wait", "start", "told"]);
export const INTERNAL = new RegExp(`^(${[...new Set(NAMES)].filter((name) => name && !PUBLIC.has(name)).join("|")})$`);
