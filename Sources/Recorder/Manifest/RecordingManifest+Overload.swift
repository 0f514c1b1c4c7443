extension RecordingManifest {
  /// What is in no file because this machine had no time to record it.
  public struct Overload: Sendable, Hashable, Codable {
    public var picturesDropped: UInt64 = 0
    /// Packets of sound.
    public var packetsDropped: UInt64 = 0

    public init() {}
  }
}
