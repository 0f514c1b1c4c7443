/// When each step of a call was taken, in seconds since the check's start; a step that was not taken is nil.
public struct CallSteps: Sendable, Hashable, Codable {
  /// When the call with the peer began: it was seen, or, by its offer, heard of.
  public var seen: Double?
  public var offerSent: Double?
  public var offerReceived: Double?
  public var answerSent: Double?
  public var answerReceived: Double?
  /// Our first candidate and the peer's first, wherever it stood: in a description or in a message of its own.
  public var firstLocalCandidate: Double?
  public var firstRemoteCandidate: Double?
  /// Our first ICE check was sent.
  public var checksBegun: Double?
  /// The first of our checks was answered.
  public var firstCheckAnswered: Double?
  public var iceConnected: Double?
  public var dtlsConnected: Double?
  public var firstPacket: Double?
  /// The first frame was decoded.
  public var firstFrame: Double?
  /// The first audio packet was decoded.
  public var firstSound: Double?
  /// Which candidates we had, and which the peer had: `host`, `mdns`, `srflx`, `prflx`, `relay`, `tcp`, `other`, each with
  /// how many.
  public var localCandidates: [String: Int] = [:]
  public var remoteCandidates: [String: Int] = [:]

  public init() {}
}
