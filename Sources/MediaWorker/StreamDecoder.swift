package import MediaMessages
package import NIOCore

/// Decodes one stream in the worker of its participant.
///
/// A process that ends takes the decoder's state with it. Frames of video then fail up to the next keyframe.
package final class StreamDecoder {
  private let codec: MediaCodec
  private let isReplaceable: Bool
  private let worker: MediaWorker
  private var decoder: MediaWorker.Decoder?
  /// Why frames fail up to the next keyframe.
  private var failure: MediaWorkerError?

  /// Starts nothing yet.
  ///
  /// - Parameter isReplaceable: whether this process decodes the codec as well; see ``MediaWorker``.
  package init(_ codec: MediaCodec, isReplaceable: Bool = false, in worker: MediaWorker) {
    self.codec = codec
    self.isReplaceable = isReplaceable
    self.worker = worker
  }

  deinit {
    if let decoder { worker.close(decoder) }
  }

  /// Whether frames fail up to the next keyframe, and could be decoded from there on.
  package var lacksKeyframe: Bool {
    if case .ended = failure { worker.canContinue } else { false }
  }

  /// Decodes one whole frame or packet.
  ///
  /// - Parameters:
  ///   - time: passed on to the decoded frame, in any unit.
  ///   - wantsOutput: whether `read` needs what is decoded, and not only its size.
  ///   - isStart: whether decoding can start with the frame: a keyframe, or any packet of audio.
  ///   - read: reads what the response describes in the shared memory. The worker may change it at any time: each value is
  ///     to be read once. It returns nil for a response that makes no sense.
  package func decode<Result>(
    _ frame: ByteBuffer, time: Int64 = 0, wantsOutput: Bool, isStart: @autoclosure () -> Bool,
    _ read: (MediaResponse.Body, UnsafeRawBufferPointer) -> Result?
  ) throws(MediaWorkerError) -> Result {
    if let failure {
      guard isStart() else { throw failure }
      self.failure = nil
    }
    // The second time with a new process, if another stream's frame has ended the one before.
    for _ in 0..<2 {
      let current = try ready()
      let request = MediaRequest.Body.decode(
        current.number, bytes: frame.readableBytes, time: time, wantsOutput: wantsOutput)
      do throws(MediaWorkerError) {
        if let result = try worker.request(request, of: current, frame: frame, read) { return result }
      } catch {
        throw note(error)
      }
      decoder = nil
      guard isStart() else { throw note(.ended("was ended by a frame of another stream")) }
    }
    throw .unavailable("the decoding process ends again and again")
  }

  /// Takes the next frame that the decoder keeps.
  ///
  /// - Parameters:
  ///   - isAtEnd: whether no frames follow, so that the decoder returns all; it then starts again with a keyframe.
  ///   - read: see ``decode(_:time:wantsOutput:isStart:_:)``.
  /// - Returns: nil if there is no decoder any more.
  package func receive<Result>(
    isAtEnd: Bool, _ read: (MediaResponse.Body, UnsafeRawBufferPointer) -> Result?
  ) throws(MediaWorkerError) -> Result? {
    guard failure == nil, let decoder else { return nil }
    do throws(MediaWorkerError) {
      return try worker.request(isAtEnd ? .drain(decoder.number) : .receive(decoder.number), of: decoder, read)
    } catch {
      throw note(error)
    }
  }

  private func ready() throws(MediaWorkerError) -> MediaWorker.Decoder {
    if let decoder { return decoder }
    do throws(MediaWorkerError) {
      let opened = try worker.open(codec, isReplaceable: isReplaceable)
      decoder = opened
      return opened
    } catch {
      throw note(error)
    }
  }

  private func note(_ error: MediaWorkerError) -> MediaWorkerError {
    switch error {
    case .refused: break
    case .ended, .unavailable:
      decoder = nil
      failure = error
    }
    return error
  }
}
