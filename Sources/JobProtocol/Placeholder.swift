enum JobProtocolPlaceholder {}
