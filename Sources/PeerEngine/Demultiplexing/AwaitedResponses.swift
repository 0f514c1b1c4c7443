internal import ICE

/// The engines that await responses to their checks, by transaction id.
struct AwaitedResponses {
  private var engines: [STUNTransactionID: PeerConnection] = [:]
  /// The number of entries at which those are removed that are awaited no more.
  private var limit = AwaitedResponses.minimumLimit
  private static let minimumLimit = 256

  var count: Int { engines.count }

  subscript(id: STUNTransactionID) -> PeerConnection? { engines[id] }

  mutating func sent(_ id: STUNTransactionID, by engine: PeerConnection) {
    if engines.count >= limit, engines[id] == nil {
      engines = engines.filter { $1.owns(transactionID: $0) }
      limit = max(Self.minimumLimit, 2 * engines.count)
    }
    engines[id] = engine
  }

  mutating func forget(_ engine: PeerConnection) {
    engines = engines.filter { $1 !== engine }
  }
}
