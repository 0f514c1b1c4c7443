import CMediaProgram

/// What FFmpeg has logged since the start of a request.
enum FFmpegLog {
  static func reset() { cmediaprogram_log_reset() }

  /// The first error; nil if there was none.
  static var error: String? { text(cmediaprogram_log_text()) }

  /// The first error of a decoder that means that samples are damaged or missing; nil if there was none.
  static var damage: String? { text(cmediaprogram_log_damage()) }

  private static func text(_ line: UnsafePointer<CChar>?) -> String? {
    line.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
