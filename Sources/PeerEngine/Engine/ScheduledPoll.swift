/// What the demultiplexer's schedule knows of a connection; the connection stores it, so that no look-up is needed.
struct ScheduledPoll {
  /// The place of its deadline.
  let slot: Int
  var isUrgent = false
  /// Whether it is listed as connecting.
  var isConnecting = false
}
