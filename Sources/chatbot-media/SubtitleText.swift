import CFFmpeg
import MediaMessages

/// Subtitles as the containers want them: `mov_text` in MP4, WebVTT in WebM, SubRip in Matroska. Text is text: nothing in it is markup.
enum SubtitleText {
  private enum Coding {
    case movText, webVTT, subRip
  }

  private static func coding(in format: ContainerFormat) -> Coding {
    switch format {
    case .mp4, .mov, .m4a: .movText
    case .webm: .webVTT
    case .mkv, .ogg, .wav: .subRip
    }
  }

  static func identifier(in format: ContainerFormat) -> AVCodecID {
    switch coding(in: format) {
    case .movText: AV_CODEC_ID_MOV_TEXT
    case .webVTT: AV_CODEC_ID_WEBVTT
    case .subRip: AV_CODEC_ID_SUBRIP
    }
  }

  /// What a player needs before the first subtitle.
  static func privateData(in format: ContainerFormat) -> [UInt8] {
    guard coding(in: format) == .movText else { return [] }
    // A text sample description (3GPP TS 26.245, 5.16): centred at the bottom, white, of 18 points, in a font without serifs.
    let font = Array("Sans-Serif".utf8)
    let table = 8 + 2 + 2 + 1 + font.count
    return [0, 0, 0, 0, 1, 0xFF, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
      + [0, 0, 0, 0, 0, 1, 0, 18, 0xFF, 0xFF, 0xFF, 0xFF]
      + [0, 0, 0, UInt8(table)] + Array("ftab".utf8) + [0, 1, 0, 1, UInt8(font.count)] + font
  }

  /// The bytes of a packet.
  ///
  /// - Parameter text: in UTF-8.
  static func bytes(_ text: [UInt8], in format: ContainerFormat) -> [UInt8] {
    // A line without text ends a subtitle of WebVTT and SubRip.
    let lines = String(decoding: text, as: UTF8.self)
      .split(whereSeparator: \.isNewline).joined(separator: "\n")
    switch coding(in: format) {
    case .movText:
      let bytes = Array(whole(lines, bytes: Int(UInt16.max)).utf8)
      return [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    case .webVTT:
      var escaped = ""
      for character in lines.unicodeScalars {
        switch character {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        default: escaped.unicodeScalars.append(character)
        }
      }
      return Array(escaped.utf8)
    case .subRip:
      // It has no way to escape what players take for markup, but nothing that does not follow at once is markup.
      var parted = ""
      for character in lines.unicodeScalars {
        parted.unicodeScalars.append(character)
        if character == "<" || character == "{" || character == "\\" { parted.unicodeScalars.append("\u{200B}") }
      }
      return Array(parted.utf8)
    }
  }

  private static func whole(_ text: String, bytes: Int) -> String {
    var text = text
    while text.utf8.count > bytes { text = String(text.unicodeScalars.dropLast()) }
    return text
  }
}
