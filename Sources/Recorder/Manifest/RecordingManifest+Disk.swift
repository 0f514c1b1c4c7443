extension RecordingManifest {
  /// What it cost that the disk did not take the recording for a while.
  public struct Disk: Sendable, Hashable, Codable {
    /// How often the disk failed, or gave no answer for 2 s or more.
    public var stalls = 0
    /// For how long the disk took nothing while the call went on: from a write that failed to the moment when all that waited
    /// was written, and while a write gave no answer for 2 s or more. Each moment counts once, and none after the call.
    public var duration: Double = 0
    /// Pictures that are in no file, because the memory for what waits was full, or because the disk did not take them until
    /// the end.
    public var picturesDropped: UInt64 = 0
    /// Packets of sound that are in no file, for the same reasons.
    public var packetsDropped: UInt64 = 0

    public init() {}
  }
}
