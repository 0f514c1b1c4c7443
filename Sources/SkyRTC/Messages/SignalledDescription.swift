/// A session description on its way, as a browser's `RTCSessionDescription` in JSON.
public struct SignalledDescription: Sendable, Hashable {
  /// What the sender calls it, `offer` or `answer`. Some old clients send their own offer back as an `_answer`.
  public var type: String
  /// The SDP text.
  public var sdp: String

  public init(type: String, sdp: String) {
    self.type = type
    self.sdp = sdp
  }
}
