extension Measurement {
  /// What is known only when every frame was looked at. Each stands for itself and for what is named below it.
  private static let ofVideoFrames = [
    "video.frames", "video.fps", "video.freeze", "video.frozen", "video.black", "video.width", "video.height",
    "video.sizeChanges", "video.brightness", "video.decodeErrors", "latency", "video.latency", "av.skew",
    "pattern.missing", "pattern.doubled", "pattern.reordered", "pattern.unreadable", "pattern.psnr", "pattern.ssim",
    "returned",
    // Some of them were requested to continue after frames that were skipped.
    "keyframeRequests",
  ]

  /// Why there is no figure of a peer although there is a number: frames were skipped, and blaming the peer for that would be
  /// wrong. Nil when the number can be told.
  func absence(of peer: PeerReport) -> String? {
    guard let leftOut = peer.leftOut else { return nil }
    let isVideo = Self.ofVideoFrames.contains { name == $0 || name.hasPrefix($0 + ".") }
    // What was seen before frames were skipped was seen in time.
    let isFirst = name == "video.firstFrame" && (peer.steps.firstFrame.map { leftOut.first < $0 } ?? true)
    return isVideo || isFirst ? leftOut.clause : nil
  }
}
