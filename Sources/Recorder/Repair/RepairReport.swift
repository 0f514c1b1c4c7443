/// What a repair did to one file.
public struct RepairReport: Sendable, Hashable, CustomStringConvertible {
  public enum Outcome: Sendable, Hashable {
    /// It is whole now, and plays for so long.
    case mended(Duration)
    /// It was whole, and was left alone.
    case whole
    /// It was left alone, for a reason that completes “FILE …”.
    case refused(String)
    /// It is not there.
    case missing
    /// It could not be read or written.
    case failed(RoomRecorder.StorageError)
  }

  public let path: String
  public let outcome: Outcome

  /// Whether the file is whole now.
  public var isWhole: Bool {
    switch outcome {
    case .mended, .whole: true
    case .refused, .missing, .failed: false
    }
  }

  /// One sentence.
  public var description: String {
    switch outcome {
    case .mended(let duration):
      duration == .zero ? "“\(path)” is complete now." : "“\(path)” is complete now, \(duration.roundedSeconds) s."
    case .whole: "“\(path)” was complete already."
    case .refused(let reason): "“\(path)” \(reason). It was left alone."
    case .missing: "“\(path)” is not there."
    case .failed(let error): error.description
    }
  }
}
