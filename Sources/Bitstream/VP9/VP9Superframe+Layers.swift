import NIOCore

/// The spatial layers of a picture.
extension VP9Superframe {
  /// What a decoder shows of a superframe.
  package struct Output: Sendable, Hashable {
    /// The number of frames that were shown before ``hideLowerLayers(references:)`` and are not any more.
    package var hiddenFrames = 0
    /// Whether a frame is shown.
    package var isShown: Bool
    /// The size of the last frame; nil if it is unknown.
    package var size: VP9FrameHeader.Size?
  }

  /// Returns what a decoder shows.
  ///
  /// - Parameter references: the sizes of the decoder's references before the superframe, and afterwards those after it.
  package func output(references: inout VP9ReferenceSizes) -> Output {
    Self.output(headers(references: &references))
  }

  /// Marks all layer frames but the highest as not shown, if their sizes differ.
  ///
  /// Encoders mark each spatial layer of a picture as shown (show_frame). libvpx outputs only the last frame of a superframe,
  /// but FFmpeg outputs every frame that is marked as shown: of each picture one image of each size.
  ///
  /// The frames are decoded to the same images as before. A frame that is followed by one of the same size stays as it is,
  /// because the next one could use its motion vectors, which it must not if the frame before it is not shown (VP9 bitstream
  /// specification, 7.2: UsePrevFrameMvs). Nothing changes either if the last frame is not shown, or if a header cannot be
  /// parsed.
  ///
  /// - Parameter references: the sizes of the decoder's references before the superframe, and afterwards those after it.
  package mutating func hideLowerLayers(references: inout VP9ReferenceSizes) -> Output {
    let headers = headers(references: &references)
    var output = Self.output(headers)
    guard let headers, headers.count > 1, headers.last?.isShown == true else { return output }
    for position in headers.indices.dropLast() where headers[position].isShown {
      guard let size = headers[position].size, let next = headers[position + 1].size, size != next,
        let hidden = headers[position].hiding(frames[position])
      else { continue }
      frames[position] = hidden
      output.hiddenFrames += 1
    }
    return output
  }

  /// Returns the headers of all frames; nil if one cannot be parsed.
  private func headers(references: inout VP9ReferenceSizes) -> [VP9FrameHeader]? {
    var headers: [VP9FrameHeader] = []
    headers.reserveCapacity(frames.count)
    for frame in frames {
      guard let header = try? VP9FrameHeader(parsing: frame, references: references) else {
        // What it would have stored is unknown.
        references.removeAll()
        return nil
      }
      references.update(after: header)
      headers.append(header)
    }
    return headers
  }

  private static func output(_ headers: [VP9FrameHeader]?) -> Output {
    Output(isShown: headers?.contains { $0.isShown } ?? false, size: headers?.last?.size)
  }
}
