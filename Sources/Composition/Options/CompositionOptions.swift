package import Media

/// What is composed, and how.
package struct CompositionOptions: Sendable, Hashable {
  /// Folders and manifests.
  package var inputs: [String]
  /// The path of the output.
  package var output: String
  package var format: OutputFormat
  package var calls = CallSelection.only
  /// Whether unfinished recordings are composed up to their present end.
  package var isPartial = false
  /// Which part of the call is composed, in units of `MediaTimebase.rate` from its first frame.
  package var from: Int64 = 0
  /// Nil for the end of the call.
  package var to: Int64?
  /// Names or ids of users who are neither shown nor heard.
  package var excluded: [UntrustedText] = []
  package var size = VideoSize(width: 1280, height: 720)
  package var rate = FrameRate.standard
  package var quality = OutputQuality.standard
  /// In bits per second; nil for no limit.
  package var maximumBitrate: Int?
  package var layout = LayoutChoice.grid
  package var fit = TileFit.contain
  package var hasNames = true
  /// The names to draw, by id or name.
  package var renamed: [UntrustedText: UntrustedText] = [:]
  package var hasClock = false
  package var hasChat = true
  package var hasChapters = false
  /// Whether the speech of each user is brought to -20 LUFS.
  package var isLevelled = false
  /// Whether existing files may be replaced, and parts of another composition removed.
  package var isForced = false
  /// The path of the report; nil for none.
  package var report: String?

  package init(inputs: [String], output: String, format: OutputFormat) {
    (self.inputs, self.output, self.format) = (inputs, output, format)
  }

  /// Which of several calls are composed.
  package enum CallSelection: Sendable, Hashable {
    /// The only one; an error if there are several.
    case only
    /// By its number, from 1.
    case number(Int)
    /// Each one into a file of its own.
    case all
  }
}

/// How good the picture is, from 1 to 10.
package struct OutputQuality: Sendable, Hashable {
  package static let range = 1...10
  /// As x264's CRF 23.
  package static let standard = OutputQuality(clamping: 6)

  package let value: Int

  package init(clamping value: Int) {
    self.value = min(max(value, Self.range.lowerBound), Self.range.upperBound)
  }
}
