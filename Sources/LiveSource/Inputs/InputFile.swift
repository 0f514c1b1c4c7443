import FileSource
package import Media

/// Detects the format of a file from its first bytes, and checks the file.
package enum InputFile {
  /// The playable contents of a file.
  package struct Found: Sendable {
    package var video: CheckedVideo?
    package var audio: CheckedAudio?
    package var notes: [String] = []
    /// The video, if it can be sent as stored beside the audio.
    var storedVideo: StoredVideoPlan?
    /// Why the video cannot be sent as stored, as a clause.
    var encodingReason: String?
  }

  /// - Parameters:
  ///   - rate: the frame rate of formats that have none of their own.
  ///   - storing: the codecs in which video may be sent as stored beside audio that is encoded.
  package static func check(
    _ path: String, rate: VideoRate?, storing: [Codec] = []
  ) throws(InputError) -> Found {
    let file = try refusing { () throws(MediaFile.ReadError) in try OpenFile(path) }
    guard file.size > 0 else { throw InputError(.empty) }
    let beginning = try refusing { () throws(MediaFile.ReadError) in try file.beginning(64) }
    switch kind(beginning) {
    case .y4m: return Found(video: try Y4MFile.check(file, rate: rate))
    case .wave:
      let header = try refusing { () throws(MediaFile.ReadError) in try WAVHeader(file) }
      if header.isEmpty { throw InputError("it has no audio") }
      var found = try WorkerInput.check(path, file, storing: storing, samples: header.samples)
      found.audio?.notes = header.notes
      return found
    case .still: return Found(video: try StillImage.check(file, rate: rate))
    case .container:
      do throws(InputError) {
        if let found = try stored(path) { return found }
      } catch {
        // It may be a profile that only the other program decodes.
        guard let found = try? WorkerInput.check(path, file, storing: storing) else { throw error }
        return found
      }
      return try WorkerInput.check(path, file, storing: storing)
    case .worker: return try WorkerInput.check(path, file, storing: storing)
    case nil:
      let name = FormatDetector.name(beginning).map { "it is \($0), and" } ?? "its format is unknown;"
      throw InputError(
        "\(name) MP4, MOV, Matroska, WebM, IVF, Y4M, Ogg, M4A, MP3, AAC, WAV, FLAC and PNG are played")
    }
  }

  private enum Kind {
    case container, y4m, wave, still
    /// What the program `chatbot-media` reads.
    case worker
  }

  private static func kind(_ beginning: [UInt8]) -> Kind? {
    func has(_ mark: [UInt8], at offset: Int = 0) -> Bool { beginning.dropFirst(offset).starts(with: mark) }
    if has([0x1a, 0x45, 0xdf, 0xa3]) || has(Array("DKIF".utf8)) || has(Array("OggS".utf8)) {
      return .container
    }
    if has(Array(Y4MHeader.signature.utf8)) { return .y4m }
    if has(Array("RIFF".utf8)) || has(Array("RF64".utf8)) || has(Array("RIFX".utf8)) {
      return has(Array("WAVE".utf8), at: 8) ? .wave : nil
    }
    // Sony's Wave64 begins with a GUID of 16 bytes.
    if has(Array("riff".utf8) + [0x2e, 0x91, 0xcf, 0x11]) || has(Array("fLaC".utf8)) { return .worker }
    if has([0x89] + Array("PNG\r\n".utf8) + [0x1a, 0x0a]) { return .still }
    if FormatDetector.isMP4(beginning) || has(Array("ID3".utf8)) { return .worker }
    // The start of a frame of MP3 (ISO/IEC 11172-3, 2.4.2.3) or AAC in ADTS (ISO/IEC 13818-7, 6.2).
    if beginning.count > 2, beginning[0] == 0xff, beginning[1] & 0xe0 == 0xe0, beginning[1] & 0x18 != 0x08 {
      return .worker
    }
    return nil
  }

  /// - Returns: nil for a file with codecs that only the program `chatbot-media` decodes.
  private static func stored(_ path: String) throws(InputError) -> Found? {
    let stored: StoredFile
    do throws(MediaFile.ReadError) {
      stored = try StoredFile(opening: path, accepting: Codec.decodedHere)
      try stored.refuseWhatIsTooShort()
    } catch {
      if case .unsupportedCodec = error { return nil }
      throw InputError(error)
    }
    var found = Found(notes: stored.notes)
    if let track = stored.track(.video) { found.video = try StoredVideo.check(stored, track) }
    if let track = stored.track(.audio) { found.audio = try StoredAudio.check(stored, track) }
    return found
  }
}
