/// What to look at when a rule fails, by measurement.
enum Advice {
  /// One sentence; nil where the figure speaks for itself.
  static func of(_ measurement: String) -> String? {
    sentences.first { measurement == $0.name || measurement.hasPrefix($0.name + ".") }?.sentence
  }

  private static let sentences: [(name: String, sentence: String)] = [
    ("video.black", "The camera may be covered, switched off or taken by another program."),
    ("video.frozen", "Pictures come, so the connection is fine; what the app takes them from stands still."),
    ("video.fps.min", "Look at the freezes and at the sender's processor."),
    ("video.fps", "The sender may be slow, or its line may take no more: see the bitrate and the loss."),
    ("video.decodeErrors", "The sender's stream is damaged, or pictures were sent that build on missing ones."),
    ("audio.silence", "The microphone may be muted, or the app sends an empty track."),
    ("audio.clipped", "The sender's gain is too high."),
    ("audio.gap", "See the loss and the jitter of the sound."),
    ("absent", "See why it left; an app that crashed or was closed leaves like that."),
    ("returned", "Whatever the app takes away from what we send, or cannot keep up with, is missing here."),
    ("peers", "Others may not have come within the time that was waited."),
  ]
}
